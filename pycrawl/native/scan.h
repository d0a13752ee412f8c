/* A page while it is read: what markup.c, boxes.c, text.c, reports.c and scan.c share. */

#ifndef PYCRAWL_SCAN_H
#define PYCRAWL_SCAN_H

#include "native.h"

#pragma GCC visibility push(hidden) /* of the module only its entry is called from outside */

#define MOST_UP 256 /* open boxes that a tag is compared with; bounds the time that hostile nesting takes */
#define INLINE_COUNTERS 64 /* a power of two */

typedef struct {
    const byte *name, *value; /* as they stand in the markup */
    size_t name_length, value_length;
} Attribute;

enum Namespace { IN_HTML, IN_SVG, IN_MATH };

/* What the stack of boxes has to know of a box beside what main content needs. */
typedef struct {
    uint32_t name; /* the hash of its tag's name */
    uint8_t namespace;
    bool is_point; /* an integration point: HTML inside svg or math, which end tags do not reach across */
    bool is_annotation; /* <annotation-xml>, in which <svg> is not that of math */
    bool is_within_foreign; /* it or a box around it is not HTML */
    bool is_inert; /* it or a box around it is a template: not part of the page */
} Opened;

/* A link with a text: where that stands in the page's text, the number of the block that it begins in, and bits of
   urls/link_flags.py. */
typedef struct {
    size_t begin, end, block;
    byte flags;
} Anchor;

/* These have the values that urls/link_flags.py gives them. */
enum { LINK_FRAME = 1, LINK_NOFOLLOW = 2, LINK_SPONSORED = 4, LINK_UGC = 8 };

typedef struct {
    const byte *at, *end; /* what is still to be read */
    /* the tag that was read last */
    uint32_t name; /* the hash of its name */
    uint8_t tag;
    bool is_self_closing;
    Attribute *attributes;
    size_t attribute_count, attribute_room;
    /* text: the blocks so far, each with a line break behind it, and the one that is being read */
    bool wants_text;
    char *text;
    size_t length, room, block_begin, link_letters;
    bool space; /* there was some behind the last character */
    Block *blocks;
    size_t block_count, block_room;
    /* boxes: all that were opened; `box` is the innermost that is still open */
    Box *boxes;
    Opened *opened; /* for each box */
    size_t box_count, box_room;
    uint32_t box;
    bool is_quirky; /* a page without a doctype that is known: its tables do not end paragraphs */
    bool in_link, in_form;
    /* inline elements by the hash of their name: how many were begun and not ended, and the box the last began in */
    uint16_t inline_open[INLINE_COUNTERS];
    uint32_t inline_box[INLINE_COUNTERS];
    /* what is found */
    PyObject *hrefs, *element, *title;
    PyObject *anchor_hrefs; /* a list: the URL of each anchor; NULL if none are wanted */
    Anchor *anchors;
    size_t anchor_count, anchor_room, most_anchors;
    bool is_anchor_open; /* the last one: its link has not ended */
} Page;

/* Makes room for `wanted` items of `size` bytes in an array that has it for `room`. Returns -1 with an error set if there
   is none. */
int more_room(void **array, size_t *room, size_t wanted, size_t size);

/* tags.c */
extern bool is_space[256];
uint32_t name_hash(const byte *name, size_t length);
uint8_t tag_of(const byte *name, size_t length, uint32_t hash);
bool leaves_foreign(uint32_t hash);

/* markup.c: reads all of the page, calling `begin_element` and `end_element` of scan.c for its tags. */
int read_page(Page *page);
void skip_raw_text(Page *page, const char *name);
void skip_script(Page *page);

/* scan.c */
int begin_element(Page *page);
int end_element(Page *page);

/* text.c */
int add_text(Page *page, const byte *from, const byte *end, bool keeps_nuls);
int end_block(Page *page);
/* Main content in UTF-8; NULL with no error set if it is too little, and all text is meant. `kept` has a place for each block,
   and is filled with whether it belongs to the content. */
PyObject *content_of(Page *page, bool *kept);
/* The texts of all anchors, joined by line breaks, each at most `longest` bytes. */
PyObject *anchor_texts(const Page *page, size_t longest);

/* boxes.c */
int open_box(Page *page, bool is_unseen);
int close_box(Page *page, uint32_t box);
/* Closes the innermost open box of the tag's name, a heading for any heading. Returns 0 if there is none in reach, 1 if
   there was one, -1 with an error set. */
int close_by_name(Page *page);
/* An inline element that ends takes along the ordinary elements, svg and math that were begun in it and not ended. */
int close_inside_inline(Page *page);
/* Closes what the start tag ends. Returns 1, or 0 if its element has no place here and is left out; -1 with an error set. */
int close_implied(Page *page);

/* foreign.c: svg and math. */
/* Returns 1 if the start tag that was read last begins an element of svg or math, 0 if one of HTML; a tag that leaves svg
   and math closes them before. -1 with an error set. */
int begins_foreign(Page *page);
int open_foreign(Page *page, enum Namespace namespace);
/* Closes the element of svg or math that the end tag names. Returns 0 if there is none, and HTML's rules count; 1; or -1
   with an error set. */
int end_foreign(Page *page);

/* reports.c: what the caller is told of. */
int report(Page *page, const char *name);
int add_href(Page *page);
int begin_link(Page *page);
int end_link(Page *page);

/* The first attribute of this name in the tag that was read last; NULL if there is none. Inline, as names are constants. */
static inline const Attribute *attribute(const Page *page, const char *name) {
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

static inline const Opened *current(const Page *page) {
    return &page->opened[page->box];
}

#pragma GCC visibility pop

#endif
