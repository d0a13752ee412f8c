/* What bytes hold that decides how they are read and stored, in one pass: body_scan.py has the words for it. */

#include "native.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { NOT_ASCII = 1, NUL = 2, ESCAPE = 4, DOC_TAG = 8, NOT_UTF8 = 16 };

/* Behind the character of several bytes at `at`; NULL if it is none. */
static const byte *behind_character(const byte *at, const byte *end) {
    byte lead = *at, least = 0x80, most = 0xBF;
    int more;
    if (lead >= 0xC2 && lead <= 0xDF) {
        more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        more = 2;
        least = lead == 0xE0 ? 0xA0 : 0x80; /* what fits into two bytes stands in two */
        most = lead == 0xED ? 0x9F : 0xBF; /* no halves of pairs */
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        more = 3;
        least = lead == 0xF0 ? 0x90 : 0x80;
        most = lead == 0xF4 ? 0x8F : 0xBF;
    } else {
        return NULL;
    }
    if (end - at <= more || at[1] < least || at[1] > most) {
        return NULL;
    }
    for (int place = 2; place <= more; place++) {
        if ((at[place] & 0xC0) != 0x80) {
            return NULL;
        }
    }
    return at + more + 1;
}

/* Whether "doc" stands behind the "<" at `at`, or "/doc". */
static bool begins_doc_tag(const byte *at, const byte *end) {
    const byte *name = at + 1 + (end - at > 1 && at[1] == '/');
    return end - name >= 3 && (name[0] | 0x20) == 'd' && (name[1] | 0x20) == 'o' && (name[2] | 0x20) == 'c';
}

static int of_byte(const byte *at, const byte *end) {
    switch (*at) {
    case 0:
        return NUL;
    case 0x1B:
        return ESCAPE;
    case '<':
        return begins_doc_tag(at, end) ? DOC_TAG : 0;
    default:
        return 0;
    }
}

#ifdef __SSE2__
#define CLOSELY 256 /* bytes that are read closely before it is tried again whether the text is plain */

static inline __m128i any_of_four(__m128i one, __m128i two, __m128i three, __m128i four) {
    return _mm_or_si128(_mm_or_si128(one, two), _mm_or_si128(three, four));
}

static inline __m128i controls_in(__m128i bytes) {
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x1B)));
}

static inline __m128i odd_bytes(__m128i bytes) {
    return _mm_or_si128(controls_in(bytes), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('<')));
}

/* Behind the bytes from here on, 64 at a time, among which there is nothing to find: most of a page's text. */
static const byte *behind_plain(const byte *at, const byte *end) {
    for (; end - at >= 64; at += 64) {
        __m128i part[4];
        memcpy(part, at, sizeof part);
        __m128i odd = any_of_four(odd_bytes(part[0]), odd_bytes(part[1]), odd_bytes(part[2]), odd_bytes(part[3]));
        /* The highest bit is set in what was found, and in bytes beyond ASCII. */
        if (_mm_movemask_epi8(_mm_or_si128(odd, any_of_four(part[0], part[1], part[2], part[3])))) {
            break;
        }
    }
    return at;
}

/* ASCII, 16 bytes at a time, up to `until` or what is no ASCII. Returns what was found. */
static int look_closely(const byte **from, const byte *until, const byte *end) {
    const byte *at = *from;
    const __m128i small = _mm_set1_epi8(0x20), d = _mm_set1_epi8('d');
    int found = 0;
    /* Pages are full of tags: a "<" is looked at only if "d" follows, or "/d". */
    while (at < until && end - at >= 16 + 2) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        if (_mm_movemask_epi8(bytes)) {
            break;
        }
        __m128i next = _mm_loadu_si128((const __m128i *)(at + 1)), after = _mm_loadu_si128((const __m128i *)(at + 2));
        __m128i opens = _mm_cmpeq_epi8(_mm_or_si128(next, small), d);
        __m128i closes = _mm_and_si128(_mm_cmpeq_epi8(next, _mm_set1_epi8('/')), _mm_cmpeq_epi8(_mm_or_si128(after, small), d));
        __m128i tags = _mm_and_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('<')), _mm_or_si128(opens, closes));
        for (unsigned bits = (unsigned)_mm_movemask_epi8(_mm_or_si128(controls_in(bytes), tags)); bits; bits &= bits - 1) {
            found |= of_byte(at + __builtin_ctz(bits), end);
        }
        at += 16;
    }
    *from = at;
    return found;
}
#endif

static int scan_body(const byte *at, const byte *end) {
    int found = 0;
    while (at < end) {
#ifdef __SSE2__
        for (const byte *until = at; at == until && at < end;) {
            at = behind_plain(at, end);
            until = end - at > CLOSELY ? at + CLOSELY : end;
            found |= look_closely(&at, until, end);
        }
#endif
        for (int some = 0; some < 16 && at < end && *at < 0x80; some++) {
            found |= of_byte(at++, end);
        }
        while (at < end && *at >= 0x80) {
            const byte *behind = behind_character(at, end);
            found |= behind != NULL ? NOT_ASCII : NOT_ASCII | NOT_UTF8;
            at = behind != NULL ? behind : at + 1;
        }
    }
    return found;
}

PyObject *native_scan_body(PyObject *self, PyObject *body) {
    (void)self;
    Py_buffer bytes;
    if (PyObject_GetBuffer(body, &bytes, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    const byte *from = bytes.buf;
    int found = scan_body(from, from + bytes.len);
    PyBuffer_Release(&bytes);
    return PyLong_FromLong(found);
}
