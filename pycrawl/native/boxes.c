/* The stack of open boxes (block elements), with the end tags that the HTML standard implies. It stands for a tree: all
   that text needs of one. Each box is opened and closed once, and nothing looks further up than `MOST_UP`. */

#include "scan.h"

#define MOST_BOXES (1 << 17) /* further ones count as inline */

static inline bool is_table_part(uint8_t tag) {
    return tag >= TAG_TABLE && tag <= TAG_TH;
}

static inline bool is_cell(uint8_t tag) {
    return tag == TAG_TD || tag == TAG_TH || tag == TAG_CAPTION;
}

static inline bool is_heading(uint8_t tag) {
    return tag >= TAG_H1 && tag <= TAG_H6;
}

/* Elements that the standard does not call "special": tags reach across them. */
static inline bool is_ordinary(uint8_t tag) {
    switch (tag) {
    case TAG_OTHER: case TAG_A: case TAG_INLINE: case TAG_FONT: case TAG_UNSEEN: case TAG_READING: case TAG_READINGS:
    case TAG_RUBY: case TAG_RUBY_BASE: case TAG_SVG_POINT: case TAG_MATH_POINT: case TAG_ANNOTATION: case TAG_GLYPH:
    case TAG_DIALOG:
        return true;
    default:
        return false;
    }
}

/* What no tag but </template> reaches across. */
static inline bool is_wall(const Page *page, uint32_t box) {
    return page->opened[box].is_point || page->opened[box].is_annotation || page->boxes[box].tag == TAG_TEMPLATE;
}

int open_box(Page *page, bool is_unseen) {
    if (page->box_count >= MOST_BOXES) {
        return 0;
    }
    bool is_inside_unseen = page->boxes[page->box].unseen;
    if (!is_unseen && !is_inside_unseen && end_block(page) < 0) {
        return -1;
    }
    size_t opened_room = page->box_room;
    if (more_room((void **)&page->boxes, &page->box_room, page->box_count + 1, sizeof *page->boxes) < 0 ||
        more_room((void **)&page->opened, &opened_room, page->box_room, sizeof *page->opened) < 0) {
        return -1;
    }
    int suspicion = 0;
    if (page->wants_text && !is_unseen) {
        const Attribute *class_name = attribute(page, "class"), *id = attribute(page, "id");
        suspicion = suspicion_of(
            page->tag, class_name ? (const char *)class_name->value : "", class_name ? class_name->value_length : 0,
            id ? (const char *)id->value : "", id ? id->value_length : 0);
    }
    const Opened *outer = current(page);
    page->opened[page->box_count] = (Opened){
        .name = page->name, .is_within_foreign = outer->is_within_foreign,
        .is_inert = outer->is_inert || page->tag == TAG_TEMPLATE};
    page->boxes[page->box_count] = (Box){
        .parent = page->box, .tag = page->tag, .suspicion = (uint8_t)suspicion, .unseen = is_unseen || is_inside_unseen};
    page->box = (uint32_t)page->box_count++;
    return 0;
}

/* Closes this box and all that are open in it. */
int close_box(Page *page, uint32_t box) {
    if (!page->boxes[box].unseen && end_block(page) < 0) {
        return -1;
    }
    if (is_cell(page->boxes[box].tag)) {
        page->in_link = false;
    }
    page->box = page->boxes[box].parent;
    return 0;
}

/* Whether the tag's end tag does not reach out of a box. */
static bool stops_end_tag(const Page *page, uint32_t box) {
    uint8_t tag = page->tag, held_by = page->boxes[box].tag;
    if (tag == TAG_TEMPLATE) {
        return false;
    }
    if (is_wall(page, box)) {
        return true;
    }
    if (page->opened[box].namespace != IN_HTML) {
        return false;
    }
    if (is_table_part(tag)) {
        return held_by == TAG_TABLE;
    }
    if (held_by == TAG_TABLE || is_cell(held_by) || held_by == TAG_OBJECT || held_by == TAG_MARQUEE) {
        return true;
    }
    if (tag == TAG_P && held_by == TAG_BUTTON) {
        return true;
    }
    if (tag == TAG_LI && (held_by == TAG_UL || held_by == TAG_OL)) {
        return true;
    }
    bool is_any_other = (is_ordinary(tag) && tag != TAG_DIALOG) || tag == TAG_NOSCRIPT;
    return is_any_other && !is_ordinary(held_by);
}

int close_by_name(Page *page) {
    uint32_t box = page->box;
    for (int up = 0; box != 0 && up < MOST_UP; up++) {
        bool is_it = page->opened[box].name == page->name || (is_heading(page->tag) && is_heading(page->boxes[box].tag));
        if (is_it && page->opened[box].namespace == IN_HTML) {
            return close_box(page, box) < 0 ? -1 : 1;
        }
        if (stops_end_tag(page, box)) {
            return 0;
        }
        box = page->boxes[box].parent;
    }
    return 0;
}

/* Closes the innermost open item (<li>, or <dd> and <dt>) that the next one ends. */
static int close_item(Page *page, uint8_t one, uint8_t other) {
    uint32_t box = page->box;
    for (int up = 0; box != 0 && up < MOST_UP && !is_wall(page, box); up++) {
        uint8_t tag = page->boxes[box].tag;
        if (tag == one || tag == other) {
            return close_box(page, box);
        }
        if (!is_ordinary(tag) && tag != TAG_P && tag != TAG_DIV && tag != TAG_ADDRESS) {
            return 0;
        }
        box = page->boxes[box].parent;
    }
    return 0;
}

/* Closes the paragraph that is open, if only ordinary elements were begun in it and not ended. */
static int close_paragraph(Page *page) {
    uint32_t box = page->box;
    for (int up = 0; box != 0 && up < MOST_UP && !is_wall(page, box); up++) {
        uint8_t here = page->boxes[box].tag;
        if (here == TAG_P) {
            return close_box(page, box);
        }
        if (!is_ordinary(here) && here != TAG_NOSCRIPT && page->opened[box].namespace == IN_HTML) {
            return 0;
        }
        box = page->boxes[box].parent;
    }
    return 0;
}

/* There are no buttons in buttons. */
static int close_button(Page *page) {
    uint32_t box = page->box;
    for (int up = 0; box != 0 && up < MOST_UP && !is_wall(page, box); up++) {
        uint8_t here = page->boxes[box].tag;
        if (here == TAG_BUTTON) {
            return close_box(page, box);
        }
        if (here == TAG_TABLE || is_cell(here) || here == TAG_OBJECT || here == TAG_MARQUEE) {
            return 0;
        }
        box = page->boxes[box].parent;
    }
    return 0;
}

int close_inside_inline(Page *page) {
    uint32_t box = page->box, inner = box, begun_in = page->inline_box[page->name % INLINE_COUNTERS];
    for (int up = 0; box > begun_in && up < MOST_UP; up++) {
        bool is_foreign = page->opened[box].namespace != IN_HTML;
        if (is_wall(page, box) || (!is_foreign && !is_ordinary(page->boxes[box].tag))) {
            return 0;
        }
        inner = box;
        box = page->boxes[box].parent;
    }
    return box == begun_in && inner != box ? close_box(page, inner) : 0;
}

/* Closes what is open in the innermost part of a table that holds boxes of this tag: cells are held by rows, rows by groups
   of rows, and all of them by the table. Returns 0 if there is no table. */
static int clear_to_holder(Page *page, uint8_t tag) {
    uint32_t box = page->box, inner = box;
    for (int up = 0; box != 0 && up < MOST_UP; up++) {
        uint8_t here = page->boxes[box].tag;
        if (here == TAG_TEMPLATE) {
            return 1;
        }
        if (page->opened[box].is_point) {
            return 0;
        }
        bool holds_cells = tag == TAG_TD || tag == TAG_TH;
        if (here == TAG_TABLE || (here == TAG_ROWS && (holds_cells || tag == TAG_TR)) || (here == TAG_TR && holds_cells)) {
            return inner == box ? 1 : close_box(page, inner) < 0 ? -1 : 1;
        }
        inner = box;
        box = page->boxes[box].parent;
    }
    return 0;
}

/* Opens a box whose start tag is left out in the markup. */
static int open_implied(Page *page, uint8_t tag, const char *name) {
    uint8_t own_tag = page->tag;
    uint32_t own_name = page->name;
    size_t own_attributes = page->attribute_count;
    page->tag = tag;
    page->name = name_hash((const byte *)name, strlen(name));
    page->attribute_count = 0;
    int failed = open_box(page, false);
    page->tag = own_tag;
    page->name = own_name;
    page->attribute_count = own_attributes;
    return failed;
}

/* Makes the place for a part of a table: closes what it ends, opens the rows and the row that it implies. */
static int make_place_in_table(Page *page) {
    uint8_t tag = page->tag;
    int has_place = clear_to_holder(page, tag);
    bool is_in_row = tag == TAG_TD || tag == TAG_TH;
    if (has_place > 0 && (is_in_row || tag == TAG_TR) && page->boxes[page->box].tag == TAG_TABLE &&
        open_implied(page, TAG_ROWS, "tbody") < 0) {
        return -1;
    }
    if (has_place > 0 && is_in_row && page->boxes[page->box].tag == TAG_ROWS && open_implied(page, TAG_TR, "tr") < 0) {
        return -1;
    }
    return has_place;
}

/* A table that begins in another, but in none of its cells, ends that one. */
static int close_outer_table(Page *page) {
    uint32_t box = page->box;
    for (int up = 0; box != 0 && up < MOST_UP && !is_wall(page, box); up++) {
        uint8_t here = page->boxes[box].tag;
        if (here == TAG_TABLE) {
            return close_box(page, box);
        }
        if (is_cell(here)) {
            return 0;
        }
        box = page->boxes[box].parent;
    }
    return 0;
}

static bool closes_paragraph(const Page *page) {
    uint8_t tag = page->tag;
    if (tag == TAG_TABLE) {
        return !page->is_quirky;
    }
    return (tag >= TAG_ARTICLE && tag <= TAG_BLOCKQUOTE) || (tag >= TAG_H1 && tag <= TAG_HR) || tag == TAG_XMP ||
           tag == TAG_PLAINTEXT;
}

/* The end tags that a start tag implies. Returns 0 if the element has no place here, and is left out. */
int close_implied(Page *page) {
    uint8_t tag = page->tag, here = page->boxes[page->box].tag;
    int failed = 0;
    switch (tag) {
    case TAG_LI:
        failed = close_item(page, TAG_LI, TAG_LI);
        break;
    case TAG_DD: case TAG_DT:
        failed = close_item(page, TAG_DD, TAG_DT);
        break;
    case TAG_CAPTION: case TAG_ROWS: case TAG_TR: case TAG_TD: case TAG_TH:
        return make_place_in_table(page);
    case TAG_TABLE:
        failed = close_outer_table(page);
        break;
    case TAG_BUTTON:
        failed = close_button(page);
        break;
    case TAG_RUBY_BASE: case TAG_READING: case TAG_READINGS:
        failed = here == TAG_READING ? close_box(page, page->box) : 0;
        break;
    default:
        break;
    }
    if (failed == 0 && closes_paragraph(page)) {
        failed = close_paragraph(page);
        if (failed == 0 && is_heading(tag) && is_heading(page->boxes[page->box].tag)) {
            failed = close_box(page, page->box);
        }
    }
    return failed < 0 ? -1 : 1;
}
