/* Names of elements, and how each is treated; any other element is a box. */

#include "scan.h"

#define LONGEST_TAG_NAME 15 /* of those that are known */
#define TAG_SLOTS 512 /* a power of two, more than twice as many as there are names */

/* Elements that have rules of their own; what is inline, void or never seen beside these is told by `set_content_rules`. */
static const struct {
    const char *names;
    uint8_t tag;
} TAGS[] = {
    {"a", TAG_A}, {"br", TAG_BR}, {"body", TAG_BODY}, {"html", TAG_HTML}, {"head", TAG_HEAD}, {"article", TAG_ARTICLE},
    {"main", TAG_MAIN}, {"nav", TAG_NAV}, {"footer", TAG_FOOTER}, {"aside", TAG_ASIDE}, {"menu", TAG_MENU},
    {"dialog", TAG_DIALOG}, {"figure", TAG_FIGURE}, {"figcaption", TAG_FIGCAPTION}, {"header", TAG_HEADER},
    {"form", TAG_FORM}, {"address", TAG_ADDRESS}, {"p", TAG_P}, {"div", TAG_DIV}, {"li", TAG_LI}, {"ul dir", TAG_UL},
    {"ol", TAG_OL}, {"dl", TAG_DL}, {"dd", TAG_DD}, {"dt", TAG_DT}, {"pre listing", TAG_PRE},
    {"blockquote", TAG_BLOCKQUOTE}, {"table", TAG_TABLE}, {"caption", TAG_CAPTION}, {"tbody thead tfoot", TAG_ROWS},
    {"tr", TAG_TR}, {"td", TAG_TD}, {"th", TAG_TH}, {"h1", TAG_H1}, {"h2", TAG_H2}, {"h3", TAG_H3}, {"h4", TAG_H4},
    {"h5", TAG_H5}, {"h6", TAG_H6}, {"section hgroup search", TAG_SECTION}, {"center", TAG_CENTER},
    {"details", TAG_DETAILS}, {"summary", TAG_SUMMARY}, {"fieldset", TAG_FIELDSET}, {"hr", TAG_HR},
    {"script", TAG_SCRIPT}, {"style", TAG_STYLE}, {"title", TAG_TITLE}, {"textarea", TAG_TEXTAREA},
    {"iframe", TAG_IFRAME}, {"xmp", TAG_XMP}, {"noembed", TAG_NOEMBED}, {"noframes", TAG_NOFRAMES},
    {"plaintext", TAG_PLAINTEXT}, {"noscript", TAG_NOSCRIPT}, {"template", TAG_TEMPLATE}, {"object", TAG_OBJECT},
    {"applet marquee", TAG_MARQUEE}, {"button", TAG_BUTTON}, {"select", TAG_SELECT}, {"ruby", TAG_RUBY},
    {"rb", TAG_RUBY_BASE}, {"rt rp", TAG_READING}, {"rtc", TAG_READINGS}, {"svg", TAG_SVG}, {"math", TAG_MATH},
    {"foreignobject desc", TAG_SVG_POINT}, {"mi mo mn ms mtext", TAG_MATH_POINT}, {"annotation-xml", TAG_ANNOTATION},
    {"mglyph malignmark", TAG_GLYPH}, {"font", TAG_FONT}, {"area", TAG_AREA}, {"frame", TAG_FRAME}, {"link", TAG_LINK},
    {"meta", TAG_META}, {"base", TAG_BASE}, {"image", TAG_VOID},
};

/* Start tags that end svg and math, as the HTML standard lists them ("in foreign content"); `font` only with some
   attributes. */
static const char LEAVING[] =
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol "
    "p pre ruby s small span strong strike sub sup table tt u ul var";

static struct {
    char name[LONGEST_TAG_NAME + 1];
    uint32_t hash;
    uint8_t tag;
    bool leaves_foreign;
} slots[TAG_SLOTS];

bool is_space[256];

uint32_t name_hash(const byte *name, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t place = 0; place < length; place++) {
        hash = (hash ^ small(name[place])) * 16777619u;
    }
    return hash;
}

/* The slot of a name, or the free one where it belongs. */
static size_t slot_of(const byte *name, size_t length, uint32_t hash) {
    size_t slot = hash % TAG_SLOTS;
    for (; slots[slot].name[0]; slot = (slot + 1) % TAG_SLOTS) {
        if (slots[slot].hash == hash) {
            const char *known = slots[slot].name;
            size_t place = 0;
            while (place < length && known[place] && small(name[place]) == (byte)known[place]) {
                place++;
            }
            if (place == length && !known[place]) {
                break;
            }
        }
    }
    return slot;
}

uint8_t tag_of(const byte *name, size_t length, uint32_t hash) {
    return length <= LONGEST_TAG_NAME ? slots[slot_of(name, length, hash)].tag : TAG_OTHER;
}

bool leaves_foreign(uint32_t hash) {
    size_t slot = hash % TAG_SLOTS;
    while (slots[slot].name[0] && slots[slot].hash != hash) {
        slot = (slot + 1) % TAG_SLOTS;
    }
    return slots[slot].leaves_foreign;
}

/* The slot of a name that is added if it is not known; a name that is keeps its tag. */
static size_t add_tag(const char *name, size_t length, uint8_t tag) {
    uint32_t hash = name_hash((const byte *)name, length);
    size_t slot = slot_of((const byte *)name, length, hash);
    if (!slots[slot].name[0]) {
        memcpy(slots[slot].name, name, length);
        slots[slot].hash = hash;
        slots[slot].tag = tag;
    }
    return slot;
}

int add_tags(PyObject *names, uint8_t tag) {
    Py_ssize_t count = PySequence_Size(names);
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *item = PySequence_GetItem(names, place);
        Py_ssize_t length = 0;
        const char *name = item != NULL ? PyUnicode_AsUTF8AndSize(item, &length) : NULL;
        if (name != NULL && length > 0 && length <= LONGEST_TAG_NAME) {
            add_tag(name, (size_t)length, tag);
        } else if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "expected shorter names of elements");
        }
        Py_XDECREF(item);
        if (PyErr_Occurred()) {
            return -1;
        }
    }
    return count < 0 ? -1 : 0;
}

void make_tags(void) {
    for (const char *code = " \t\n\f\r"; *code; code++) {
        is_space[(byte)*code] = true;
    }
    for (size_t row = 0; row < sizeof TAGS / sizeof *TAGS; row++) {
        for (const char *name = TAGS[row].names; *name;) {
            size_t length = strcspn(name, " ");
            add_tag(name, length, TAGS[row].tag);
            name += length + (name[length] == ' ');
        }
    }
}

/* Called once all names have a tag. */
void mark_leaving_tags(void) {
    for (const char *name = LEAVING; *name;) {
        size_t length = strcspn(name, " ");
        slots[add_tag(name, length, TAG_INLINE)].leaves_foreign = true;
        name += length + (name[length] == ' ');
    }
}
