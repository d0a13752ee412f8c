/* What the parts of the compiled module share. Everything here works on buffers with known ends, in time and memory in
   proportion to what it is given: what comes in is whatever a server sent. */

#ifndef PYCRAWL_NATIVE_H
#define PYCRAWL_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden) /* of the module only its entry is called from outside */

typedef uint8_t byte;

static inline byte small(byte letter) {
    return (byte)(letter - 'A') < 26 ? letter | 0x20 : letter;
}

static inline bool is_letter(byte code) {
    return (byte)((code | 0x20) - 'a') < 26;
}

static inline bool is_digit(byte code) {
    return (byte)(code - '0') < 10;
}

/* A character in UTF-8; where it ends. */
static inline byte *put_utf8(byte *to, uint32_t code) {
    if (code < 0x80) {
        *to++ = (byte)code;
    } else if (code < 0x800) {
        *to++ = (byte)(0xC0 | code >> 6);
        *to++ = (byte)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *to++ = (byte)(0xE0 | code >> 12);
        *to++ = (byte)(0x80 | (code >> 6 & 0x3F));
        *to++ = (byte)(0x80 | (code & 0x3F));
    } else {
        *to++ = (byte)(0xF0 | code >> 18);
        *to++ = (byte)(0x80 | (code >> 12 & 0x3F));
        *to++ = (byte)(0x80 | (code >> 6 & 0x3F));
        *to++ = (byte)(0x80 | (code & 0x3F));
    }
    return to;
}

/* words.c */
PyObject *native_words(PyObject *self, PyObject *args);

/* prints.c */
PyObject *native_prints(PyObject *self, PyObject *args);
PyObject *native_pairs(PyObject *self, PyObject *args);

/* scan.c */
PyObject *native_scan(PyObject *self, PyObject *args);

/* references.c */
PyObject *native_set_entities(PyObject *self, PyObject *entities);
bool are_entities_set(void);
/* What the reference at `from` stands for, at most eight bytes, into `to`; where it ends, or `from` if it is none. */
const byte *reference(const byte *from, const byte *end, bool in_attribute, char *to, size_t *length);

/* links.c */
int add_link_cache(PyObject *module);

/* body_scan.c */
PyObject *native_scan_body(PyObject *self, PyObject *body);
PyObject *native_is_plain_pickle(PyObject *self, PyObject *data);

/* run_filters.c */
PyObject *native_places_in_runs(PyObject *self, PyObject *args);

/* run_blocks.c */
PyObject *native_unpack_ids(PyObject *self, PyObject *data);
PyObject *native_find_ids(PyObject *self, PyObject *args);
PyObject *native_pack_ids(PyObject *self, PyObject *args);

/* hash_search.c */
PyObject *native_look_up(PyObject *self, PyObject *args);
PyObject *native_merged_hashes(PyObject *self, PyObject *args);

/* content.c: what a page's blocks of text are worth, and which of them are its main content. */

typedef struct {
    size_t begin, end;  /* in the page's text */
    size_t letters; /* characters but spaces */
    size_t link_letters; /* of these, in links */
    size_t words;
    uint32_t box;
} Block;

typedef struct {
    uint32_t parent;  /* stands before it; that of box 0 is 0 */
    uint8_t tag;
    uint8_t suspicion;  /* how much its names tell that it frames the page: one of the levels below */
    bool unseen;  /* nothing in it is shown */
    bool framed;
    bool has_prose;
    double worth;
    double sum;  /* worth of the good blocks inside */
    double words;  /* of all blocks inside */
} Box;

/* What parse/frame_names.py calls WEAK, SURE and HARD. */
enum { LEVEL_WEAK = 1, LEVEL_SURE = 3, LEVEL_HARD = 4, LEVEL_COUNT = 5 };

/* The order matters where ranges are asked for: ARTICLE to BLOCKQUOTE and H1 to HR end paragraphs; TABLE to TH. */
enum Tag {
    TAG_OTHER, TAG_A, TAG_BR, TAG_BODY, TAG_HTML, TAG_HEAD, TAG_ARTICLE, TAG_MAIN, TAG_NAV, TAG_FOOTER, TAG_ASIDE, TAG_MENU,
    TAG_DIALOG, TAG_FIGURE, TAG_FIGCAPTION, TAG_HEADER, TAG_FORM, TAG_ADDRESS, TAG_P, TAG_DIV, TAG_LI, TAG_UL, TAG_OL, TAG_DL,
    TAG_DD, TAG_DT, TAG_PRE, TAG_BLOCKQUOTE, TAG_TABLE, TAG_CAPTION, TAG_ROWS, TAG_TR, TAG_TD, TAG_TH, TAG_H1, TAG_H2, TAG_H3,
    TAG_H4, TAG_H5, TAG_H6, TAG_SECTION, TAG_CENTER, TAG_DETAILS, TAG_SUMMARY, TAG_FIELDSET, TAG_HR, TAG_INLINE, TAG_FONT,
    TAG_VOID, TAG_SCRIPT, TAG_STYLE, TAG_TITLE, TAG_TEXTAREA, TAG_IFRAME, TAG_XMP, TAG_NOEMBED, TAG_NOFRAMES, TAG_PLAINTEXT,
    TAG_NOSCRIPT, TAG_TEMPLATE, TAG_OBJECT, TAG_MARQUEE, TAG_BUTTON, TAG_SELECT, TAG_UNSEEN, TAG_RUBY, TAG_RUBY_BASE,
    TAG_READING, TAG_READINGS, TAG_SVG, TAG_MATH, TAG_SVG_POINT, TAG_MATH_POINT, TAG_ANNOTATION, TAG_GLYPH, TAG_AREA, TAG_FRAME,
    TAG_LINK, TAG_META, TAG_BASE, TAG_COUNT
};

/* tags.c */
void make_tags(void);
int add_tags(PyObject *names, uint8_t tag);
void mark_leaving_tags(void);

/* What parse/frames.py and parse/text.py say; `set_content_rules` takes it from there. */
typedef struct {
    double shares[LEVEL_COUNT], shares_again[LEVEL_COUNT], little, small_part, few_words, fair_part, prose_words;
    double many_links, some_links, short_prose, litter, link_list, floor;
    Py_ssize_t short_words, fewest_words, long_word, characters_of_word;
} Rules;

extern Rules rules;

PyObject *native_set_content_rules(PyObject *self, PyObject *args);
PyObject *native_set_frame_names(PyObject *self, PyObject *args);
int suspicion_of(uint8_t tag, const char *class_name, size_t class_length, const char *id, size_t id_length);
/* Marks the blocks of the main content in `kept`, which has a place for each block; false if all text is meant. */
bool choose_content(Box *boxes, size_t box_count, const Block *blocks, size_t block_count, bool *kept, double *worths);

#pragma GCC visibility pop

#endif
