/* svg and math: elements in them are not those of HTML. A <title> or <script> there is an element like any other, "/>" ends
   one, and some start tags leave them ("in foreign content" in the HTML standard). Nothing of their text is shown. */

#include "scan.h"

static bool is_html_encoding(const Attribute *encoding) {
    static const char *const NAMES[] = {"text/html", "application/xhtml+xml"};
    for (size_t which = 0; encoding != NULL && which < 2; which++) {
        size_t length = strlen(NAMES[which]), same = 0;
        while (encoding->value_length == length && same < length && small(encoding->value[same]) == (byte)NAMES[which][same]) {
            same++;
        }
        if (same == length) {
            return true;
        }
    }
    return false;
}

/* Whether what stands in the element is HTML again. */
static bool is_integration_point(const Page *page, enum Namespace namespace) {
    if (namespace == IN_SVG) {
        return page->tag == TAG_SVG_POINT || page->tag == TAG_TITLE;
    }
    return page->tag == TAG_MATH_POINT || (page->tag == TAG_ANNOTATION && is_html_encoding(attribute(page, "encoding")));
}

int open_foreign(Page *page, enum Namespace namespace) {
    size_t before = page->box_count;
    if (open_box(page, true) < 0) {
        return -1;
    }
    if (page->box_count > before) {
        Opened *opened = &page->opened[page->box];
        opened->namespace = (uint8_t)namespace;
        opened->is_within_foreign = true;
        opened->is_point = is_integration_point(page, namespace);
        opened->is_inert = page->opened[page->boxes[page->box].parent].is_inert;
        page->boxes[page->box].tag = TAG_OTHER; /* a <p> or <template> of svg is none of HTML */
        page->opened[page->box].is_annotation = namespace == IN_MATH && page->tag == TAG_ANNOTATION;
    }
    return 0;
}

static bool leaves(const Page *page) {
    if (page->tag == TAG_FONT) {
        return attribute(page, "color") != NULL || attribute(page, "face") != NULL || attribute(page, "size") != NULL;
    }
    return leaves_foreign(page->name);
}

int begins_foreign(Page *page) {
    const Opened *here = current(page);
    if (here->namespace == IN_HTML) {
        return 0;
    }
    if (here->is_point) {
        return here->namespace == IN_MATH && page->tag == TAG_GLYPH;
    }
    if (here->is_annotation && page->tag == TAG_SVG) {
        return 0;
    }
    if (!leaves(page)) {
        return 1;
    }
    while (current(page)->namespace != IN_HTML && !current(page)->is_point) {
        if (close_box(page, page->box) < 0) {
            return -1;
        }
    }
    return 0;
}

int end_foreign(Page *page) {
    uint32_t box = page->box;
    for (int up = 0; up < MOST_UP && page->opened[box].namespace != IN_HTML; up++) {
        if (page->opened[box].name == page->name) {
            return close_box(page, box) < 0 ? -1 : 1;
        }
        box = page->boxes[box].parent;
    }
    return 0;
}
