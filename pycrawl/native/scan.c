/* One pass over markup: links and what else a page says to crawlers, its title, its text in blocks.

   Tags, attributes, comments, raw text and character references are read as the HTML standard's tokeniser reads them.
   No tree is built. A stack of boxes (block elements) with the end tags that the standard implies stands for it: that is
   all that text needs. Each box is opened and closed once, and nothing looks further up than `MOST_UP`. */

#include "native.h"
#include "tags.h"

#define MOST_BOXES (1 << 17) /* further ones count as inline */
#define MOST_BLOCKS (1 << 17) /* further ones are one */
#define MOST_UP 256 /* open boxes that an end tag is compared with */
#define MOST_ATTRIBUTES 32 /* that are kept of one tag */
#define LONGEST_TAG_NAME 15 /* of those that are known */
#define TAG_SLOTS 512
#define RULED 1 /* main content is what the rules say, not all text */
#define LONG_WORD 12 /* characters; no script that has spaces between words has longer ones on average */

typedef struct {
    const byte *name, *value;
    size_t name_length, value_length;
} Attribute;

typedef struct {
    const byte *at, *end;
    /* the tag that was read last */
    uint32_t name;
    uint8_t tag;
    bool is_self_closing;
    Attribute attributes[MOST_ATTRIBUTES];
    size_t attribute_count;
    /* text: the blocks so far, each with a line break behind it, and the one that is being read */
    bool wants_text;
    char *text;
    size_t length, room, block_begin, link_characters;
    bool space; /* there was some behind the last character */
    Block *blocks;
    size_t block_count, block_room;
    Box *boxes;
    uint32_t *names; /* of the boxes */
    size_t box_count, box_room;
    uint32_t box; /* the innermost that is open */
    bool in_link, in_form;
    /* what is found */
    PyObject *hrefs, *element, *anchors, *title;
    PyObject *anchor_href; /* of the link that is open; only where anchor texts are wanted */
    size_t anchor_begin;
} Page;

static bool is_space[256], ends_name[256], ends_word[256];

static struct {
    char name[LONGEST_TAG_NAME + 1];
    uint32_t hash;
    uint8_t tag;
} slots[TAG_SLOTS];

static uint32_t name_hash(const byte *name, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t place = 0; place < length; place++) {
        hash = (hash ^ small(name[place])) * 16777619u;
    }
    return hash;
}

static void make_tables(void) {
    for (const char *code = " \t\n\f\r"; *code; code++) {
        is_space[(byte)*code] = ends_name[(byte)*code] = ends_word[(byte)*code] = true;
    }
    ends_name['/'] = ends_name['>'] = true;
    ends_word['&'] = ends_word[0xC2] = true;
    for (size_t row = 0; row < sizeof TAGS / sizeof *TAGS; row++) {
        for (const char *name = TAGS[row].names; *name;) {
            size_t length = strcspn(name, " ");
            uint32_t hash = name_hash((const byte *)name, length);
            size_t slot = hash % TAG_SLOTS;
            while (slots[slot].name[0]) {
                slot = (slot + 1) % TAG_SLOTS;
            }
            memcpy(slots[slot].name, name, length);
            slots[slot].hash = hash;
            slots[slot].tag = TAGS[row].tag;
            name += length + (name[length] == ' ');
        }
    }
}

static uint8_t tag_of(const byte *name, size_t length, uint32_t hash) {
    for (size_t slot = hash % TAG_SLOTS; slots[slot].name[0]; slot = (slot + 1) % TAG_SLOTS) {
        if (slots[slot].hash == hash) {
            const char *known = slots[slot].name;
            size_t place = 0;
            while (place < length && known[place] && small(name[place]) == (byte)known[place]) {
                place++;
            }
            if (place == length && !known[place]) {
                return slots[slot].tag;
            }
        }
    }
    return TAG_OTHER;
}

/* Memory */

static int more_room(void **array, size_t *room, size_t wanted, size_t size) {
    if (wanted <= *room) {
        return 0;
    }
    size_t grown = *room + *room / 2 + 64;
    grown = grown < wanted ? wanted : grown;
    void *larger = realloc(*array, grown * size);
    if (larger == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *array = larger;
    *room = grown;
    return 0;
}

/* Text */

/* Spaces, and all bytes but the first of each character; in portions that a byte can count, so that vectors can. */
static void count_bytes(const char *text, size_t length, size_t *spaces, size_t *continuing) {
    *spaces = *continuing = 0;
    while (length) {
        size_t portion = length < 240 ? length : 240;
        byte spaces_here = 0, continuing_here = 0;
        for (size_t place = 0; place < portion; place++) {
            spaces_here = (byte)(spaces_here + (text[place] == ' '));
            continuing_here = (byte)(continuing_here + ((text[place] & 0xC0) == 0x80));
        }
        *spaces += spaces_here;
        *continuing += continuing_here;
        text += portion;
        length -= portion;
    }
}

static inline bool is_no_break_space(const char *text, size_t length) {
    return length == 2 && (byte)text[0] == 0xC2 && (byte)text[1] == 0xA0;
}

typedef byte Sixteen __attribute__((vector_size(16)));

/* How many bytes from here on, sixteen at a time, need no change: single spaces within a line, and no references. */
static size_t plain_bytes(const byte *from, const byte *end) {
    const byte *at = from;
    while (end - at > 16) {
        Sixteen here, next;
        memcpy(&here, at, 16);
        memcpy(&next, at + 1, 16);
        Sixteen odd = (Sixteen)(here < ' ') | (Sixteen)(here == '&') | (Sixteen)(here == 0xC2) |
                      ((Sixteen)(here == ' ') & (Sixteen)(next <= ' '));
        uint64_t halves[2];
        memcpy(halves, &odd, 16);
        if (halves[0] | halves[1]) {
            break;
        }
        at += 16;
    }
    return (size_t)(at - from);
}

/* Adds to the block that is being read, runs of white space as one space. */
static int add_text(Page *page, const byte *from, const byte *end) {
    size_t longest = (size_t)(end - from) / 4 * 5 + 32; /* "&nGt;" stands for six bytes */
    if (more_room((void **)&page->text, &page->room, page->length + longest, 1) < 0) {
        return -1;
    }
    char *begin = page->text + page->block_begin, *to = page->text + page->length;
    bool space = page->space;
    while (from < end) {
        char referred[8];
        size_t length = 0;
        if (is_space[*from]) {
            space = true;
            from++;
            continue;
        }
        if (*from == 0xC2 && end - from > 1 && from[1] == 0xA0) {
            space = true;
            from += 2;
            continue;
        }
        if (*from == '&') {
            const byte *behind = reference(from, end, false, referred, &length);
            if (behind > from) {
                from = behind;
                if ((length == 1 && is_space[(byte)referred[0]]) || is_no_break_space(referred, length)) {
                    space = true;
                    continue;
                }
            } else {
                length = 0;
            }
        }
        if (space && to > begin) {
            *to++ = ' ';
        }
        space = false;
        if (length) {
            memcpy(to, referred, length);
            to += length;
            continue;
        }
        do {
            *to++ = (char)*from++;
        } while (from < end && !ends_word[*from]);
        size_t plain = plain_bytes(from, end);
        memcpy(to, from, plain);
        to += plain;
        from += plain;
    }
    size_t before = page->length;
    page->length = (size_t)(to - page->text);
    if (page->space && before < page->length && page->text[before] == ' ') {
        before++; /* that stood before this text */
    }
    page->space = space;
    if (page->in_link) {
        size_t spaces, continuing, added = page->length - before;
        count_bytes(page->text + before, added, &spaces, &continuing);
        page->link_characters += added - continuing;
    }
    return 0;
}

static int end_block(Page *page) {
    size_t begin = page->block_begin, length = page->length - begin;
    page->space = false;
    if (length == 0) {
        page->link_characters = 0;
        return 0;
    }
    if (page->block_count >= MOST_BLOCKS) {
        page->space = true;
        return 0;
    }
    if (more_room((void **)&page->blocks, &page->block_room, page->block_count + 1, sizeof *page->blocks) < 0 ||
        more_room((void **)&page->text, &page->room, page->length + 1, 1) < 0) {
        return -1;
    }
    size_t spaces, continuing;
    count_bytes(page->text + begin, length, &spaces, &continuing);
    uint32_t box = page->box;
    while (page->boxes[box].unseen) {
        box = page->boxes[box].parent;
    }
    Block *block = &page->blocks[page->block_count++];
    *block = (Block){.begin = begin, .end = page->length, .link_characters = page->link_characters, .words = spaces + 1, .box = box};
    block->characters = length - continuing;
    if (block->characters < length && block->characters > LONG_WORD * block->words) {
        size_t pairs = block->characters / 2; /* a script without spaces */
        block->words = pairs > block->words ? pairs : block->words;
    }
    page->text[page->length++] = '\n';
    page->block_begin = page->length;
    page->link_characters = 0;
    return 0;
}

/* Boxes */

static const Attribute *attribute(const Page *page, const char *name) {
    size_t length = strlen(name);
    for (size_t place = 0; place < page->attribute_count; place++) {
        const Attribute *one = &page->attributes[place];
        if (one->name_length == length) {
            size_t same = 0;
            while (same < length && small(one->name[same]) == (byte)name[same]) {
                same++;
            }
            if (same == length) {
                return one;
            }
        }
    }
    return NULL;
}

static int open_box(Page *page, bool unseen) {
    if (page->box_count >= MOST_BOXES) {
        return 0;
    }
    bool is_inside_unseen = page->boxes[page->box].unseen;
    if (!unseen && !is_inside_unseen && end_block(page) < 0) {
        return -1;
    }
    size_t names_room = page->box_room;
    if (more_room((void **)&page->boxes, &page->box_room, page->box_count + 1, sizeof *page->boxes) < 0 ||
        more_room((void **)&page->names, &names_room, page->box_room, sizeof *page->names) < 0) {
        return -1;
    }
    int suspicion = 0;
    if (!unseen) {
        const Attribute *class_name = attribute(page, "class"), *id = attribute(page, "id");
        suspicion = suspicion_of(
            page->tag, class_name ? (const char *)class_name->value : "", class_name ? class_name->value_length : 0,
            id ? (const char *)id->value : "", id ? id->value_length : 0);
    }
    page->names[page->box_count] = page->name;
    page->boxes[page->box_count] = (Box){
        .parent = page->box, .tag = page->tag, .suspicion = (uint8_t)suspicion, .unseen = unseen || is_inside_unseen};
    page->box = (uint32_t)page->box_count++;
    return 0;
}

/* Closes this box and all that are open in it. */
static int close_box(Page *page, uint32_t box) {
    if (!page->boxes[box].unseen && end_block(page) < 0) {
        return -1;
    }
    uint8_t tag = page->boxes[box].tag;
    if (tag == TAG_TD || tag == TAG_TH || tag == TAG_CAPTION) {
        page->in_link = false;
    }
    page->box = page->boxes[box].parent;
    return 0;
}

static inline bool is_table_part(uint8_t tag) {
    return tag >= TAG_TABLE && tag <= TAG_TH;
}

static inline bool is_heading(uint8_t tag) {
    return tag >= TAG_H1 && tag <= TAG_H6;
}

/* Closes the innermost open box of the tag's name, a heading for any heading; where there is none, nothing. */
static int close_by_name(Page *page) {
    uint32_t box = page->box;
    for (int up = 0; box != 0 && up < MOST_UP; up++) {
        uint8_t tag = page->boxes[box].tag;
        if (page->names[box] == page->name || (is_heading(page->tag) && is_heading(tag))) {
            return close_box(page, box);
        }
        if (is_table_part(tag) && tag != TAG_ROWS && tag != TAG_TR && !is_table_part(page->tag)) {
            return 0; /* what began outside a cell does not end in it */
        }
        box = page->boxes[box].parent;
    }
    return 0;
}

/* Closes the innermost open box with one of two tags, if it is nearer than what holds such boxes. */
static int close_sibling(Page *page, uint8_t one, uint8_t other) {
    uint32_t box = page->box;
    for (int up = 0; box != 0 && up < MOST_UP; up++) {
        uint8_t tag = page->boxes[box].tag;
        if (tag == one || tag == other) {
            return close_box(page, box);
        }
        bool goes_on = is_table_part(one) ? tag != TAG_TABLE && !(one != TAG_ROWS && tag == TAG_ROWS) &&
                                                !(one == TAG_TD && tag == TAG_TR)
                                          : tag == TAG_P || tag == TAG_DIV || tag == TAG_ADDRESS;
        if (!goes_on) {
            return 0;
        }
        box = page->boxes[box].parent;
    }
    return 0;
}

static bool closes_paragraph(uint8_t tag) {
    return (tag >= TAG_ARTICLE && tag <= TAG_TABLE) || (tag >= TAG_H1 && tag <= TAG_HR);
}

/* The end tags that a start tag implies. */
static int close_implied(Page *page) {
    uint8_t tag = page->tag, current = page->boxes[page->box].tag;
    int failed = 0;
    switch (tag) {
    case TAG_LI:
        failed = close_sibling(page, TAG_LI, TAG_LI);
        break;
    case TAG_DD: case TAG_DT:
        failed = close_sibling(page, TAG_DD, TAG_DT);
        break;
    case TAG_TD: case TAG_TH:
        failed = close_sibling(page, TAG_TD, TAG_TH);
        break;
    case TAG_TR: case TAG_ROWS:
        failed = close_sibling(page, tag, tag);
        break;
    default:
        if (is_heading(tag) && is_heading(current)) {
            failed = close_box(page, page->box);
        }
        break;
    }
    if (failed == 0 && closes_paragraph(tag) && page->boxes[page->box].tag == TAG_P) {
        failed = close_box(page, page->box);
    }
    return failed;
}

/* Attributes as Python has them */

static PyObject *value_of(const Attribute *attribute) {
    const byte *from = attribute->value, *end = from + attribute->value_length;
    if (memchr(from, '&', attribute->value_length) == NULL) {
        return PyUnicode_DecodeUTF8((const char *)from, (Py_ssize_t)attribute->value_length, "replace");
    }
    char *decoded = malloc(2 * attribute->value_length + 16), *to = decoded;
    if (decoded == NULL) {
        return PyErr_NoMemory();
    }
    while (from < end) {
        size_t length = 0;
        const byte *behind = *from == '&' ? reference(from, end, true, to, &length) : from;
        if (behind > from) {
            to += length;
            from = behind;
        } else {
            *to++ = (char)*from++;
        }
    }
    PyObject *value = PyUnicode_DecodeUTF8(decoded, to - decoded, "replace");
    free(decoded);
    return value;
}

/* A URL as the URL standard reads it: no white space around it, no line breaks or tabs inside. */
static PyObject *url_of(const Attribute *attribute) {
    bool is_clean = true;
    for (size_t place = 0; place < attribute->value_length; place++) {
        is_clean &= attribute->value[place] > ' ' && attribute->value[place] != '&';
    }
    if (is_clean) {
        return PyUnicode_DecodeUTF8((const char *)attribute->value, (Py_ssize_t)attribute->value_length, "replace");
    }
    PyObject *value = value_of(attribute);
    Py_ssize_t length = 0;
    const char *characters = value != NULL ? PyUnicode_AsUTF8AndSize(value, &length) : NULL;
    if (characters == NULL) {
        Py_XDECREF(value);
        return NULL;
    }
    const char *from = characters, *end = characters + length;
    while (from < end && is_space[(byte)*from]) {
        from++;
    }
    while (end > from && is_space[(byte)end[-1]]) {
        end--;
    }
    char *cleaned = malloc((size_t)(end - from) + 1), *to = cleaned;
    PyObject *url = NULL;
    if (cleaned == NULL) {
        PyErr_NoMemory();
    } else {
        for (; from < end; from++) {
            if (*from != '\t' && *from != '\n' && *from != '\r') {
                *to++ = *from;
            }
        }
        url = PyUnicode_DecodeUTF8(cleaned, to - cleaned, "replace");
    }
    free(cleaned);
    Py_DECREF(value);
    return url;
}

static PyObject *all_attributes(const Page *page) {
    PyObject *found = PyDict_New();
    for (size_t place = page->attribute_count; found != NULL && place-- > 0;) { /* of two with one name the first counts */
        const Attribute *one = &page->attributes[place];
        PyObject *as_written = PyUnicode_DecodeUTF8((const char *)one->name, (Py_ssize_t)one->name_length, "replace");
        PyObject *name = as_written != NULL ? PyObject_CallMethod(as_written, "lower", NULL) : NULL;
        PyObject *value = name != NULL ? value_of(one) : NULL;
        if (value == NULL || PyDict_SetItem(found, name, value) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(value);
        Py_XDECREF(name);
        Py_XDECREF(as_written);
    }
    return found;
}

/* Tells the caller of an element with all its attributes. */
static int report(Page *page, const char *name) {
    PyObject *attributes = all_attributes(page);
    if (attributes == NULL) {
        return -1;
    }
    PyObject *answer = PyObject_CallFunction(page->element, "sO", name, attributes);
    Py_DECREF(attributes);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

static bool mentions(const Attribute *attribute, const char *word) {
    size_t length = strlen(word);
    for (size_t begin = 0; begin + length <= attribute->value_length; begin++) {
        size_t same = 0;
        while (same < length && small(attribute->value[begin + same]) == (byte)word[same]) {
            same++;
        }
        if (same == length) {
            return true;
        }
    }
    return false;
}

/* Links */

static int end_link(Page *page) {
    page->in_link = false;
    if (page->anchor_href == NULL) {
        return 0;
    }
    size_t begin = page->anchor_begin, end = page->length;
    while (begin < end && is_space[(byte)page->text[begin]]) {
        begin++;
    }
    while (end > begin && is_space[(byte)page->text[end - 1]]) {
        end--;
    }
    int failed = 0;
    if (end > begin) {
        PyObject *text = PyUnicode_DecodeUTF8(page->text + begin, (Py_ssize_t)(end - begin), "replace");
        failed = text == NULL || PyDict_SetItem(page->anchors, page->anchor_href, text) < 0 ? -1 : 0;
        Py_XDECREF(text);
    }
    Py_CLEAR(page->anchor_href);
    return failed;
}

static int begin_link(Page *page) {
    if (page->tag == TAG_A) {
        if (end_link(page) < 0) {
            return -1;
        }
        page->in_link = true;
    }
    const Attribute *href = attribute(page, "href");
    if (href == NULL || href->value_length == 0) {
        return 0;
    }
    const Attribute *rel = attribute(page, "rel");
    bool is_nofollow = rel != NULL && mentions(rel, "nofollow");
    if (is_nofollow && report(page, page->tag == TAG_A ? "a" : "area") < 0) {
        return -1;
    }
    PyObject *value = url_of(href);
    if (value == NULL || PyUnicode_GetLength(value) == 0) {
        Py_XDECREF(value);
        return value == NULL ? -1 : 0;
    }
    int failed = is_nofollow ? 0 : PyDict_SetItem(page->hrefs, value, Py_None);
    if (failed == 0 && page->anchors != NULL && page->tag == TAG_A) {
        page->anchor_href = value;
        page->anchor_begin = page->length;
        return 0;
    }
    Py_XDECREF(value);
    return failed;
}

/* Raw text */

static bool begins_end_tag(const byte *at, const byte *end, const char *name, size_t length) {
    if ((size_t)(end - at) <= length + 2 || at[0] != '<' || at[1] != '/') {
        return false;
    }
    for (size_t place = 0; place < length; place++) {
        if (small(at[2 + place]) != (byte)name[place]) {
            return false;
        }
    }
    return ends_name[at[2 + length]];
}

/* A script that has a comment with a script in it does not end with that one. */
static const byte *end_of_script(const byte *at, const byte *end) {
    bool in_comment = false, in_inner = false;
    for (; at < end; at++) {
        if (*at == '<') {
            if (begins_end_tag(at, end, "script", 6)) {
                if (!in_inner) {
                    return at;
                }
                in_inner = false;
            } else if (end - at >= 4 && memcmp(at, "<!--", 4) == 0) {
                in_comment = true;
                at += 1; /* its dashes may be those of its end */
            } else if (in_comment && end - at > 7 && ends_name[at[7]] && name_hash(at + 1, 6) == name_hash((const byte *)"script", 6)) {
                in_inner = true;
            }
        } else if (*at == '-' && in_comment && end - at >= 3 && at[1] == '-' && at[2] == '>') {
            in_comment = in_inner = false;
        }
        if (!in_comment) {
            const byte *next = memchr(at + 1, '<', (size_t)(end - at - 1));
            at = next != NULL ? next - 1 : end - 1;
        }
    }
    return end;
}

static const byte *end_of_raw(const byte *at, const byte *end, const char *name) {
    size_t length = strlen(name);
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if (begins_end_tag(at, end, name, length)) {
            return at;
        }
        at++;
    }
    return end;
}

static int read_title(Page *page) {
    const byte *begin = page->at;
    page->at = end_of_raw(begin, page->end, "title");
    if (page->title != NULL || page->boxes[page->box].unseen) {
        return 0;
    }
    /* For once, as a block of its own behind the one that is being read. */
    size_t length = page->length, block_begin = page->block_begin;
    bool space = page->space;
    page->block_begin = length;
    page->space = false;
    if (add_text(page, begin, page->at) < 0) {
        return -1;
    }
    page->title = PyUnicode_DecodeUTF8(page->text + length, (Py_ssize_t)(page->length - length), "replace");
    page->length = length;
    page->block_begin = block_begin;
    page->space = space;
    return page->title == NULL ? -1 : 0;
}

/* Elements */

static int begin_element(Page *page) {
    switch (page->tag) {
    case TAG_A: case TAG_AREA:
        return begin_link(page);
    case TAG_FRAME:
        return report(page, "frame");
    case TAG_LINK:
        return report(page, "link");
    case TAG_META:
        return report(page, "meta");
    case TAG_BASE:
        return report(page, "base");
    case TAG_HTML:
        return attribute(page, "lang") != NULL ? report(page, "html") : 0;
    case TAG_IFRAME:
        page->at = end_of_raw(page->at, page->end, "iframe");
        return report(page, "iframe");
    case TAG_SCRIPT:
        page->at = end_of_script(page->at, page->end);
        return 0;
    case TAG_STYLE:
        page->at = end_of_raw(page->at, page->end, "style");
        return 0;
    case TAG_TEXTAREA:
        page->at = end_of_raw(page->at, page->end, "textarea");
        return 0;
    case TAG_RAW:
        page->at = end_of_raw(page->at, page->end, page->name == name_hash((const byte *)"xmp", 3)        ? "xmp"
                                                   : page->name == name_hash((const byte *)"noembed", 7) ? "noembed"
                                                                                                         : "noframes");
        return 0;
    case TAG_TITLE:
        return read_title(page);
    case TAG_PLAINTEXT:
        page->at = page->end;
        return 0;
    default:
        break;
    }
    if (!page->wants_text) {
        return 0;
    }
    switch (page->tag) {
    case TAG_BODY: case TAG_HEAD: case TAG_INLINE: case TAG_VOID:
        return 0;
    case TAG_BR:
        page->space = true;
        return 0;
    case TAG_HR:
        return close_implied(page) < 0 ? -1 : page->boxes[page->box].unseen ? 0 : end_block(page);
    case TAG_FOREIGN:
        return page->is_self_closing ? 0 : open_box(page, true);
    case TAG_UNSEEN:
        return open_box(page, true);
    case TAG_FORM:
        if (page->in_form) {
            return 0; /* there are no forms in forms */
        }
        page->in_form = true;
        return close_implied(page) < 0 ? -1 : open_box(page, false);
    default:
        return close_implied(page) < 0 ? -1 : open_box(page, false);
    }
}

/* A form is over with its end tag, but what was opened in it stays open. */
static int end_form(Page *page) {
    page->in_form = false;
    uint8_t tag = page->boxes[page->box].tag;
    while (tag == TAG_P || tag == TAG_LI || tag == TAG_DD || tag == TAG_DT) {
        if (close_box(page, page->box) < 0) {
            return -1;
        }
        tag = page->boxes[page->box].tag;
    }
    return tag == TAG_FORM ? close_box(page, page->box) : 0;
}

static int end_element(Page *page) {
    switch (page->tag) {
    case TAG_A:
        return end_link(page);
    case TAG_BR:
        page->space = true;
        return 0;
    case TAG_FORM:
        return end_form(page);
    case TAG_HTML: case TAG_BODY: case TAG_HEAD: case TAG_INLINE: case TAG_VOID: case TAG_HR: case TAG_SCRIPT: case TAG_STYLE:
    case TAG_TITLE: case TAG_TEXTAREA: case TAG_IFRAME: case TAG_RAW:
        return 0;
    default:
        return page->wants_text ? close_by_name(page) : 0;
    }
}

/* Tags */

/* The value behind "=": where it ends, or NULL if the markup does before. */
static const byte *read_value(Attribute *found, const byte *at, const byte *end) {
    while (at < end && is_space[*at]) {
        at++;
    }
    if (at == end) {
        return NULL;
    }
    if (*at == '"' || *at == '\'') {
        const byte *behind = memchr(at + 1, *at, (size_t)(end - at - 1));
        if (behind != NULL) {
            found->value = at + 1;
            found->value_length = (size_t)(behind - at - 1);
            return behind + 1;
        }
        return NULL;
    }
    found->value = at;
    while (at < end && !is_space[*at] && *at != '>') {
        at++;
    }
    found->value_length = (size_t)(at - found->value);
    return at;
}

/* Attributes up to the end of the tag: where that is, or NULL if the markup ends before. */
static const byte *read_attributes(Page *page, const byte *at) {
    const byte *end = page->end;
    page->attribute_count = 0;
    page->is_self_closing = false;
    while (true) {
        while (at < end && (is_space[*at] || *at == '/')) {
            page->is_self_closing = *at == '/';
            at++;
        }
        if (at == end) {
            return NULL;
        }
        if (*at == '>') {
            return at + 1;
        }
        page->is_self_closing = false;
        Attribute found = {.name = at, .value = at};
        do { /* "=" as the first character belongs to the name */
            at++;
        } while (at < end && !ends_name[*at] && *at != '=');
        found.name_length = (size_t)(at - found.name);
        const byte *behind = at;
        while (behind < end && is_space[*behind]) {
            behind++;
        }
        if (behind < end && *behind == '=') {
            at = read_value(&found, behind + 1, end);
            if (at == NULL) {
                return NULL;
            }
        }
        if (page->attribute_count < MOST_ATTRIBUTES) {
            page->attributes[page->attribute_count++] = found;
        }
    }
}

static int read_tag(Page *page, const byte *name, bool is_end) {
    const byte *at = name;
    while (at < page->end && !ends_name[*at]) {
        at++;
    }
    size_t length = (size_t)(at - name);
    page->name = name_hash(name, length);
    page->tag = length <= LONGEST_TAG_NAME ? tag_of(name, length, page->name) : TAG_OTHER;
    at = read_attributes(page, at);
    if (at == NULL) { /* the markup ends within the tag, which so is none */
        page->at = page->end;
        return 0;
    }
    page->at = at;
    return is_end ? end_element(page) : begin_element(page);
}

static const byte *behind_next(const byte *at, const byte *end, byte code) {
    const byte *found = at < end ? memchr(at, code, (size_t)(end - at)) : NULL;
    return found != NULL ? found + 1 : end;
}

static const byte *behind_comment(const byte *at, const byte *end) {
    if (at < end && *at == '>') {
        return at + 1;
    }
    if (end - at >= 2 && at[0] == '-' && at[1] == '>') {
        return at + 2;
    }
    while (at < end && (at = memchr(at, '-', (size_t)(end - at))) != NULL) {
        if (end - at >= 3 && at[1] == '-' && (at[2] == '>' || (end - at >= 4 && at[2] == '!' && at[3] == '>'))) {
            return at + (at[2] == '>' ? 3 : 4);
        }
        at++;
    }
    return end;
}

/* What begins with "<": a tag, a comment, or text after all. */
static int read_markup(Page *page, const byte **text) {
    const byte *at = page->at, *end = page->end;
    byte next = end - at > 1 ? at[1] : 0;
    if (is_letter(next)) {
        int failed = read_tag(page, at + 1, false);
        *text = page->at;
        return failed;
    }
    if (next == '/' && end - at > 2 && is_letter(at[2])) {
        int failed = read_tag(page, at + 2, true);
        *text = page->at;
        return failed;
    }
    if (next == '!' && end - at >= 4 && at[2] == '-' && at[3] == '-') {
        *text = page->at = behind_comment(at + 4, end);
    } else if (next == '!' || next == '?' || (next == '/' && end - at > 2)) {
        *text = page->at = behind_next(at + 2, end, '>');
    } else {
        page->at = at + 1; /* the text goes on */
    }
    return 0;
}

static int add_seen_text(Page *page, const byte *from, const byte *end) {
    bool is_seen = page->wants_text && from < end && !page->boxes[page->box].unseen;
    return is_seen ? add_text(page, from, end) : 0;
}

static int read_page(Page *page) {
    const byte *text = page->at; /* where the text begins that was not read yet */
    while (page->at < page->end) {
        const byte *next = memchr(page->at, '<', (size_t)(page->end - page->at));
        page->at = next != NULL ? next : page->end;
        const byte *markup = page->at;
        if (markup < page->end) {
            byte first = page->end - markup > 1 ? markup[1] : 0;
            if (!is_letter(first) && first != '/' && first != '!' && first != '?') {
                page->at = markup + 1;
                continue;
            }
        }
        if (add_seen_text(page, text, markup) < 0) {
            return -1;
        }
        text = markup;
        if (markup < page->end && read_markup(page, &text) < 0) {
            return -1;
        }
    }
    return add_seen_text(page, text, page->end) < 0 || end_link(page) < 0 ? -1 : end_block(page);
}

/* Results */

/* Main content in UTF-8; NULL with no error set if it is too little, and all text is meant. */
static PyObject *content_of(Page *page) {
    size_t count = page->block_count;
    bool *kept = malloc(count + 1);
    double *worths = malloc((count + 1) * sizeof *worths);
    char *joined = malloc(page->length + 1);
    PyObject *content = NULL;
    if (kept == NULL || worths == NULL || joined == NULL) {
        PyErr_NoMemory();
    } else if (choose_content(page->boxes, page->box_count, page->blocks, count, kept, worths) > 0) {
        char *to = joined;
        for (size_t place = 0; place < count; place++) {
            if (kept[place]) {
                size_t length = page->blocks[place].end - page->blocks[place].begin + 1; /* with its line break */
                memcpy(to, page->text + page->blocks[place].begin, length);
                to += length;
            }
        }
        content = PyBytes_FromStringAndSize(joined, to - joined - 1);
    }
    free(joined);
    free(worths);
    free(kept);
    return content;
}

static PyObject *results_of(Page *page, bool wants_text, int wants_content) {
    size_t length = page->length;
    if (length && page->text[length - 1] == '\n') {
        length--;
    }
    PyObject *content = wants_content == RULED && page->block_count ? content_of(page) : NULL;
    if (content == NULL && !PyErr_Occurred()) {
        content = PyBytes_FromStringAndSize(page->text, wants_content ? (Py_ssize_t)length : 0);
    }
    PyObject *text = content != NULL ? PyUnicode_DecodeUTF8(page->text, wants_text ? (Py_ssize_t)length : 0, "replace") : NULL;
    if (page->title == NULL && text != NULL) {
        page->title = PyUnicode_FromString("");
    }
    PyObject *results = text != NULL && page->title != NULL ? Py_BuildValue("OOO", page->title, text, content) : NULL;
    Py_XDECREF(content);
    Py_XDECREF(text);
    return results;
}

static void release(Page *page) {
    free(page->text);
    free(page->blocks);
    free(page->boxes);
    free(page->names);
    Py_XDECREF(page->title);
    Py_XDECREF(page->anchor_href);
}

PyObject *native_scan(PyObject *self, PyObject *args) {
    (void)self;
    const char *markup;
    Py_ssize_t length;
    int wants_text, wants_content;
    PyObject *anchors;
    Page page = {0};
    if (!PyArg_ParseTuple(args, "s#O!OpiO", &markup, &length, &PyDict_Type, &page.hrefs, &page.element, &wants_text,
                          &wants_content, &anchors)) {
        return NULL;
    }
    if (!are_entities_set() || (anchors != Py_None && !PyDict_Check(anchors))) {
        PyErr_SetString(PyExc_TypeError, "expected entities to be set, and anchors to be a dict or None");
        return NULL;
    }
    if (!is_space[' ']) {
        make_tables();
    }
    page.at = (const byte *)markup;
    page.end = page.at + length;
    page.wants_text = wants_text || wants_content || anchors != Py_None;
    page.anchors = anchors != Py_None ? anchors : NULL;
    PyObject *results = NULL;
    size_t names_room = 0;
    size_t first_room = page.wants_text ? (size_t)length + 64 : 64;
    if (more_room((void **)&page.boxes, &page.box_room, 64, sizeof *page.boxes) == 0 &&
        more_room((void **)&page.names, &names_room, page.box_room, sizeof *page.names) == 0 &&
        more_room((void **)&page.text, &page.room, first_room, 1) == 0) {
        page.boxes[0] = (Box){.tag = TAG_BODY};
        page.names[0] = 0;
        page.box_count = 1;
        if (read_page(&page) == 0) {
            results = results_of(&page, wants_text, wants_content);
        }
    }
    release(&page);
    return results;
}
