/* A text as the hashes of its words. The same, bit by bit, as fingerprint/words.py makes with numpy, which says what
   everything means. */

#include "native.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define COLUMN 8 /* bytes */
#define MOST_COLUMNS 4

static const uint64_t FIRST = 0xBF58476D1CE4E5B9u, NEXT = 0x9E3779B185EBCA87u, LAST = 0x94D049BB133111EBu;
static const uint64_t ASCII_CASE = 0x2020202020202020u;

/* The `length` bytes from `from`, at most eight, the first one lowest. Nothing is read from `end` on, which is NULL where
   it is known to be far away. */
static inline __attribute__((always_inline)) uint64_t column(const byte *from, size_t length, const byte *end) {
    uint64_t value = 0;
    if (end == NULL || end - from >= COLUMN) {
        memcpy(&value, from, COLUMN);
        if (length < COLUMN) {
            value &= ((uint64_t)1 << 8 * length) - 1;
        }
    } else {
        for (size_t place = 0; place < length && place < COLUMN; place++) {
            value |= (uint64_t)from[place] << 8 * place;
        }
    }
    return value;
}

static __attribute__((noinline)) uint64_t tail_hash(const byte *from, size_t length, const byte *end, uint64_t fold) {
    uint64_t hash = 0;
    for (size_t read = 0; read < length; read += COLUMN) {
        size_t rest = length - read;
        uint64_t mask = rest < COLUMN ? ((uint64_t)1 << 8 * rest) - 1 : ~(uint64_t)0;
        hash = (hash ^ ((column(from + read, rest, end) | fold) & mask)) * LAST;
        hash ^= hash >> 29;
    }
    return hash;
}

/* `fold` is what is set in each byte of a text that is not folded yet. */
static inline __attribute__((always_inline)) uint64_t word_hash(const byte *word, size_t length, const byte *end, uint64_t fold) {
    uint64_t mask = length < COLUMN ? ((uint64_t)1 << 8 * length) - 1 : ~(uint64_t)0;
    uint64_t hash = ((column(word, length, end) | fold) & mask) * FIRST;
    hash ^= hash >> 32;
    if (length > COLUMN) {
        uint64_t step = NEXT;
        hash += (column(word + length - COLUMN, COLUMN, end) | fold) * step + length;
        if (length > 2 * COLUMN) {
            for (size_t read = COLUMN; read < length && read < COLUMN * MOST_COLUMNS; read += COLUMN) {
                size_t rest = length - read;
                mask = rest < COLUMN ? ((uint64_t)1 << 8 * rest) - 1 : ~(uint64_t)0;
                step *= NEXT;
                hash += ((column(word + read, rest, end) | fold) & mask) * step;
            }
            if (length > COLUMN * MOST_COLUMNS) {
                step = NEXT * NEXT * NEXT * NEXT * NEXT;
                hash += tail_hash(word + COLUMN * MOST_COLUMNS, length - COLUMN * MOST_COLUMNS, end, fold) * step;
            }
        }
    }
    hash *= LAST;
    return hash ^ (hash >> 29);
}

/* The first so many bytes of a column. */
static const uint64_t BYTES[COLUMN + 1] = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF};

/* The same for a word of at most two columns with a column of other bytes before it and behind it. Without branches on its
   length, which nothing could foresee. */
static inline __attribute__((always_inline)) uint64_t short_hash(const byte *word, size_t length, uint64_t fold) {
    uint64_t first, last, is_long = (uint64_t)-(int64_t)(length > COLUMN);
    memcpy(&first, word, COLUMN);
    memcpy(&last, word + length - COLUMN, COLUMN);
    uint64_t hash = ((first | fold) & (BYTES[length < COLUMN ? length : COLUMN] | is_long)) * FIRST;
    hash ^= hash >> 32;
    hash += ((last | fold) * NEXT + length) & is_long;
    hash *= LAST;
    return hash ^ (hash >> 29);
}

#define AT_ONCE 64 /* bytes */

/* Bit i: whether byte i belongs to a word. */
static inline uint64_t in_words(const byte *from, bool is_folded) {
    uint64_t bits = 0;
#ifdef __SSE2__
    for (int part = 0; part < AT_ONCE; part += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(from + part)), found;
        if (is_folded) {
            found = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
            bits |= (uint64_t)(uint16_t)~_mm_movemask_epi8(found) << part;
            continue;
        }
        /* Shifted so that the letters, or the digits, are the lowest of all signed numbers. */
        __m128i letters = _mm_add_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8((char)(0x80 - 'a')));
        __m128i digits = _mm_add_epi8(bytes, _mm_set1_epi8((char)(0x80 - '0')));
        found = _mm_or_si128(_mm_cmplt_epi8(letters, _mm_set1_epi8((char)(0x80 + 26))),
                             _mm_cmplt_epi8(digits, _mm_set1_epi8((char)(0x80 + 10))));
        bits |= (uint64_t)(uint16_t)_mm_movemask_epi8(found) << part;
    }
#else
    for (int place = 0; place < AT_ONCE; place++) {
        byte code = from[place];
        bool in_word = is_folded ? code != 0 : (byte)((code | 0x20) - 'a') < 26 || (byte)(code - '0') < 10;
        bits |= (uint64_t)in_word << place;
    }
#endif
    return bits;
}

/* The words between `from` and `end`, into the two arrays; how many. */
static size_t split(const byte *from, const byte *end, bool is_folded, uint64_t *hashes, byte *numerals) {
    const uint64_t fold = is_folded ? 0 : ASCII_CASE;
    const byte *word = NULL; /* the one that goes on */
    size_t count = 0;
    for (const byte *at = from; at < end; at += AT_ONCE) {
        byte last[AT_ONCE] = {0};
        const byte *part = at;
        if (end - at < AT_ONCE) {
            memcpy(last, at, (size_t)(end - at));
            part = last;
        }
        uint64_t bits = in_words(part, is_folded), before = bits << 1 | (word != NULL);
        uint64_t starts = bits & ~before;
        for (uint64_t ends = before & ~bits; ends; ends &= ends - 1) {
            const byte *behind = at + __builtin_ctzll(ends);
            if (word == NULL) {
                word = at + __builtin_ctzll(starts);
                starts &= starts - 1;
            }
            size_t length = (size_t)(behind - word);
            if (__builtin_expect(length <= 2 * COLUMN && word - from >= COLUMN && end - behind >= COLUMN, 1)) {
                hashes[count] = short_hash(word, length, fold);
            } else {
                hashes[count] = word_hash(word, length, end, fold);
            }
            numerals[count++] = (byte)(*word - '0') < 10;
            word = NULL;
        }
        if (starts) {
            word = at + __builtin_ctzll(starts);
        }
    }
    if (word != NULL) {
        hashes[count] = word_hash(word, (size_t)(end - word), end, fold);
        numerals[count++] = (byte)(*word - '0') < 10;
    }
    return count;
}

/* One character of UTF-8, which is known to be well-formed: its code; `*from` goes behind it. */
static inline uint32_t decode(const byte **from, const byte *end) {
    const byte *at = *from;
    uint32_t lead = *at;
    size_t more = lead < 0xC0 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if ((size_t)(end - at) <= more) {
        *from = end;
        return 0;
    }
    uint32_t code = more == 0 ? lead : lead & (0x3Fu >> more);
    for (size_t place = 1; place <= more; place++) {
        code = code << 6 | (at[place] & 0x3F);
    }
    *from = at + more + 1;
    return code;
}

/* The text without case, NUL bytes between its words. `folded` has room for three times the text. */
static byte *fold_text(const byte *from, const byte *end, const uint16_t *fold, const byte *alone, byte *folded) {
    while (from < end) {
        if (*from < 0x80) {
            *folded++ = (byte)fold[*from++];
            continue;
        }
        uint32_t code = decode(&from, end);
        bool is_alone = code >= 0x10000 || alone[code];
        if (code < 0x10000) {
            code = fold[code];
        }
        if (is_alone) {
            *folded++ = 0;
        }
        folded = put_utf8(folded, code);
        if (is_alone) {
            *folded++ = 0;
        }
    }
    return folded;
}

static PyObject *split_into_bytes(const Py_buffer *text, const Py_buffer *fold, const Py_buffer *alone) {
    const byte *from = text->buf, *end = from + text->len;
    size_t length = (size_t)text->len;
    byte *folded = NULL;
    if (fold != NULL) {
        folded = malloc(3 * length + 1);
        if (folded == NULL) {
            return PyErr_NoMemory();
        }
        end = fold_text(from, end, fold->buf, alone->buf, folded);
        from = folded;
        length = (size_t)(end - from);
    }
    size_t most = length / 2 + 1; /* words, each with one byte between it and the next */
    uint64_t *hashes = malloc(most * sizeof *hashes);
    byte *numerals = malloc(most);
    PyObject *found = NULL;
    if (hashes == NULL || numerals == NULL) {
        PyErr_NoMemory();
    } else {
        size_t count = split(from, end, folded != NULL, hashes, numerals);
        found = Py_BuildValue("y#y#", hashes, (Py_ssize_t)(count * sizeof *hashes), numerals, (Py_ssize_t)count);
    }
    free(numerals);
    free(hashes);
    free(folded);
    return found;
}

PyObject *native_words(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer text, fold = {0}, alone = {0};
    PyObject *fold_table = Py_None, *alone_table = Py_None, *found = NULL;
    if (!PyArg_ParseTuple(args, "s*|OO", &text, &fold_table, &alone_table)) {
        return NULL;
    }
    if (fold_table == Py_None) {
        found = split_into_bytes(&text, NULL, NULL);
    } else if (PyObject_GetBuffer(fold_table, &fold, PyBUF_SIMPLE) == 0) {
        if (PyObject_GetBuffer(alone_table, &alone, PyBUF_SIMPLE) == 0) {
            if (fold.len == 0x10000 * 2 && alone.len == 0x10000) {
                found = split_into_bytes(&text, &fold, &alone);
            } else {
                PyErr_SetString(PyExc_ValueError, "expected tables of 65,536 entries");
            }
            PyBuffer_Release(&alone);
        }
        PyBuffer_Release(&fold);
    }
    PyBuffer_Release(&text);
    return found;
}
