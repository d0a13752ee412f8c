/* One pass over markup: links and what else a page says to crawlers, its title, its text in blocks. What each element does
   is here; markup.c reads the tags, boxes.c and foreign.c keep the stack of what is open, text.c the text, and reports.c
   tells the caller. No tree is built. */

#include "scan.h"

#define RULED 1 /* main content is what the rules say, not all text */

/* Collects the title in scratch space behind the block that is being read, then takes it out again. */
static int read_title(Page *page) {
    const byte *begin = page->at;
    skip_raw_text(page, "title");
    if (page->title != NULL || current(page)->is_inert) {
        return 0;
    }
    size_t length = page->length, block_begin = page->block_begin;
    bool space = page->space, in_link = page->in_link;
    page->block_begin = length;
    page->space = page->in_link = false;
    if (add_text(page, begin, page->at, true) < 0) {
        return -1;
    }
    page->title = PyUnicode_DecodeUTF8(page->text + length, (Py_ssize_t)(page->length - length), "replace");
    page->length = length;
    page->block_begin = block_begin;
    page->space = space;
    page->in_link = in_link;
    return page->title == NULL ? -1 : 0;
}

/* Inline elements are no boxes, but in svg and math: there it matters which element is the innermost. */
static int begin_inline(Page *page) {
    if (current(page)->is_within_foreign) {
        return open_box(page, true);
    }
    size_t counter = page->name % INLINE_COUNTERS;
    page->inline_open[counter]++;
    page->inline_box[counter] = page->box;
    return 0;
}

static int end_inline(Page *page) {
    int closed = current(page)->is_within_foreign ? close_by_name(page) : 0;
    size_t counter = page->name % INLINE_COUNTERS;
    if (closed || page->inline_open[counter] == 0) {
        return closed < 0 ? -1 : 0;
    }
    page->inline_open[counter]--;
    return page->box > page->inline_box[counter] ? close_inside_inline(page) : 0;
}

static int begin_box(Page *page, bool is_unseen) {
    int has_place = close_implied(page);
    return has_place <= 0 ? has_place : open_box(page, is_unseen);
}

/* Elements that hold nothing but text, or nothing at all. Returns 0 if it is none of them, 1, or -1 with an error set. */
static int begin_leaf(Page *page) {
    switch (page->tag) {
    case TAG_IFRAME:
        skip_raw_text(page, "iframe");
        return report(page, "iframe") < 0 ? -1 : 1;
    case TAG_SCRIPT:
        skip_script(page);
        return 1;
    case TAG_STYLE:
        skip_raw_text(page, "style");
        return 1;
    case TAG_TEXTAREA:
        skip_raw_text(page, "textarea");
        return 1;
    case TAG_NOEMBED:
        skip_raw_text(page, "noembed");
        return 1;
    case TAG_NOFRAMES:
        skip_raw_text(page, "noframes");
        return 1;
    case TAG_XMP:
        skip_raw_text(page, "xmp");
        return close_implied(page);
    case TAG_PLAINTEXT:
        page->at = page->end;
        return close_implied(page);
    case TAG_TITLE:
        return read_title(page) < 0 ? -1 : 1;
    case TAG_AREA:
        return add_href(page) < 0 ? -1 : 1;
    case TAG_FRAME:
        return report(page, "frame") < 0 ? -1 : 1;
    case TAG_LINK:
        return report(page, "link") < 0 ? -1 : 1;
    case TAG_META:
        return report(page, "meta") < 0 ? -1 : 1;
    case TAG_BASE:
        return report(page, "base") < 0 ? -1 : 1;
    case TAG_HTML:
        return attribute(page, "lang") != NULL && report(page, "html") < 0 ? -1 : 1;
    case TAG_BODY: case TAG_HEAD: case TAG_VOID:
        return 1;
    case TAG_BR:
        page->space = true;
        return 1;
    default:
        return 0;
    }
}

int begin_element(Page *page) {
    int is_foreign = begins_foreign(page);
    if (is_foreign) {
        if (is_foreign < 0 || (page->tag == TAG_A && add_href(page) < 0)) {
            return -1;
        }
        return page->is_self_closing ? 0 : open_foreign(page, current(page)->namespace);
    }
    switch (page->tag) {
    case TAG_A:
        if ((current(page)->is_within_foreign ? add_href(page) : begin_link(page)) < 0) {
            return -1;
        }
        return begin_inline(page);
    case TAG_INLINE: case TAG_FONT: case TAG_RUBY:
        return begin_inline(page);
    case TAG_RUBY_BASE:
        return close_implied(page) < 0 ? -1 : begin_inline(page);
    case TAG_SVG:
        return page->is_self_closing ? 0 : open_foreign(page, IN_SVG);
    case TAG_MATH:
        return page->is_self_closing ? 0 : open_foreign(page, IN_MATH);
    case TAG_UNSEEN: case TAG_NOSCRIPT: case TAG_TEMPLATE: case TAG_OBJECT: case TAG_SELECT: case TAG_BUTTON: case TAG_READING:
    case TAG_READINGS:
        return begin_box(page, true);
    case TAG_HR:
        return close_implied(page) < 0 ? -1 : page->boxes[page->box].unseen ? 0 : end_block(page);
    case TAG_FORM:
        if (page->in_form) {
            return 0; /* there are no forms in forms */
        }
        page->in_form = true;
        return begin_box(page, false);
    default: {
        int is_leaf = begin_leaf(page);
        return is_leaf ? (is_leaf < 0 ? -1 : 0) : begin_box(page, false);
    }
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

/* The end of a paragraph that was not begun is an empty one, which parts what stands around it. */
static int end_paragraph(Page *page) {
    int closed = close_by_name(page);
    return closed || page->boxes[page->box].unseen ? (closed < 0 ? -1 : 0) : end_block(page);
}

/* Readings end with the ruby that they belong to. */
static int end_ruby(Page *page) {
    bool has_begun = page->inline_open[page->name % INLINE_COUNTERS] > 0;
    while (has_begun && (page->boxes[page->box].tag == TAG_READING || page->boxes[page->box].tag == TAG_READINGS)) {
        if (close_box(page, page->box) < 0) {
            return -1;
        }
    }
    return end_inline(page);
}

int end_element(Page *page) {
    int closed = current(page)->namespace != IN_HTML ? end_foreign(page) : 0;
    if (closed) {
        return closed < 0 ? -1 : 0;
    }
    switch (page->tag) {
    case TAG_A:
        return end_inline(page) < 0 || (!current(page)->is_within_foreign && end_link(page) < 0) ? -1 : 0;
    case TAG_INLINE: case TAG_FONT: case TAG_RUBY_BASE:
        return end_inline(page);
    case TAG_RUBY:
        return end_ruby(page);
    case TAG_BR:
        page->space = true;
        return 0;
    case TAG_P:
        return end_paragraph(page);
    case TAG_FORM:
        return end_form(page);
    case TAG_HTML: case TAG_BODY: case TAG_HEAD: case TAG_VOID: case TAG_HR: case TAG_SCRIPT: case TAG_STYLE: case TAG_TITLE:
    case TAG_TEXTAREA: case TAG_IFRAME: case TAG_XMP: case TAG_NOEMBED: case TAG_NOFRAMES: case TAG_AREA: case TAG_FRAME:
    case TAG_LINK: case TAG_META: case TAG_BASE:
        return 0;
    default:
        return close_by_name(page) < 0 ? -1 : 0;
    }
}

/* Results */

/* The flags of all anchors. Those that begin in no block of the main content are in the page's frame; `kept` says which
   blocks those are, or is NULL if all are. */
static PyObject *anchor_flags(const Page *page, const bool *kept) {
    PyObject *flags = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)page->anchor_count);
    char *to = flags != NULL ? PyBytes_AsString(flags) : NULL;
    for (size_t number = 0; to != NULL && number < page->anchor_count; number++) {
        const Anchor *anchor = &page->anchors[number];
        bool in_frame = kept != NULL && (anchor->block >= page->block_count || !kept[anchor->block]);
        to[number] = (char)(anchor->flags | (in_frame ? LINK_FRAME : 0));
    }
    return flags;
}

static PyObject *results_of(Page *page, bool wants_text, int wants_content, size_t longest_anchor) {
    size_t length = page->length;
    if (length && page->text[length - 1] == '\n') {
        length--;
    }
    bool *kept = calloc(page->block_count + 1, 1);
    if (kept == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *content = wants_content == RULED && page->block_count ? content_of(page, kept) : NULL;
    PyObject *flags = PyErr_Occurred() ? NULL : anchor_flags(page, content != NULL ? kept : NULL);
    free(kept);
    if (content == NULL && flags != NULL) {
        content = PyBytes_FromStringAndSize(page->text, wants_content ? (Py_ssize_t)length : 0);
    }
    PyObject *text = content != NULL ? PyUnicode_DecodeUTF8(page->text, wants_text ? (Py_ssize_t)length : 0, "replace") : NULL;
    PyObject *anchors = text != NULL ? anchor_texts(page, longest_anchor) : NULL;
    if (page->title == NULL && anchors != NULL) {
        page->title = PyUnicode_FromString("");
    }
    PyObject *results = NULL;
    if (flags != NULL && anchors != NULL && page->title != NULL) {
        results = Py_BuildValue("OOOOO", page->title, text, content, anchors, flags);
    }
    Py_XDECREF(flags);
    Py_XDECREF(content);
    Py_XDECREF(text);
    Py_XDECREF(anchors);
    return results;
}

static void release(Page *page) {
    free(page->text);
    free(page->blocks);
    free(page->boxes);
    free(page->opened);
    free(page->attributes);
    free(page->anchors);
    Py_XDECREF(page->title);
}

PyObject *native_scan(PyObject *self, PyObject *args) {
    (void)self;
    const char *markup;
    Py_ssize_t length, most_anchors, longest_anchor;
    int wants_text, wants_content;
    PyObject *anchors;
    Page page = {0};
    if (!PyArg_ParseTuple(args, "s#O!OpiOnn", &markup, &length, &PyDict_Type, &page.hrefs, &page.element, &wants_text,
                          &wants_content, &anchors, &most_anchors, &longest_anchor)) {
        return NULL;
    }
    if (!are_entities_set() || (anchors != Py_None && !PyList_Check(anchors)) || most_anchors < 0 || longest_anchor < 0) {
        PyErr_SetString(PyExc_TypeError, "expected entities to be set, and anchors to be a list or None");
        return NULL;
    }
    page.at = (const byte *)markup;
    page.end = page.at + length;
    page.wants_text = wants_text || wants_content || anchors != Py_None;
    page.anchor_hrefs = anchors != Py_None ? anchors : NULL;
    page.most_anchors = (size_t)most_anchors;
    PyObject *results = NULL;
    size_t opened_room = 0;
    size_t first_room = page.wants_text ? (size_t)length + 64 : 64;
    if (more_room((void **)&page.boxes, &page.box_room, 64, sizeof *page.boxes) == 0 &&
        more_room((void **)&page.opened, &opened_room, page.box_room, sizeof *page.opened) == 0 &&
        more_room((void **)&page.text, &page.room, first_room, 1) == 0) {
        page.boxes[0] = (Box){.tag = TAG_BODY};
        page.opened[0] = (Opened){0};
        page.box_count = 1;
        if (read_page(&page) == 0) {
            results = results_of(&page, wants_text, wants_content, (size_t)longest_anchor);
        }
    }
    release(&page);
    return results;
}
