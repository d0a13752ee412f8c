/* The table of links that were met before: `links.c` fills it and looks the links of a page up, `anchors.c` does so once more
   for their texts. All here is small, and runs for each link. */

#ifndef PYCRAWL_LINK_TABLE_H
#define PYCRAWL_LINK_TABLE_H

#include "native.h"

#define WAYS 4
#define LONGEST_TEXT 512 /* bytes; longer ones are not remembered */
#define FIRST_HASH 256 /* smaller values say why a link is not followed */

typedef struct {
    uint64_t key, value; /* 0: none */
} Entry;

typedef struct {
    PyObject_HEAD
    Entry *entries;
    size_t buckets; /* a power of two */
    uint64_t secrets[2];
} LinkCache;

/* What the links of a page are resolved against, in UTF-8. */
typedef struct {
    const char *home, *folder; /* the page's origin; its URL up to the last slash of its path */
    size_t home_length, folder_length;
} Place;

static inline uint64_t load(const byte *from) {
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline uint64_t mixed(uint64_t one, uint64_t other) {
    unsigned __int128 product = (unsigned __int128)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t key_of(const LinkCache *cache, const byte *text, size_t length) {
    uint64_t low, high, state = cache->secrets[0];
    const uint64_t secret = cache->secrets[1];
    if (length >= 16) {
        for (size_t place = 0; place + 16 < length; place += 16) {
            state = mixed(load(text + place) ^ secret, load(text + place + 8) ^ state);
        }
        low = load(text + length - 16);
        high = load(text + length - 8);
    } else {
        byte padded[16] = {0};
        memcpy(padded, text, length);
        low = load(padded);
        high = load(padded + 8);
    }
    state = mixed(low ^ secret, high ^ state);
    uint64_t key = mixed(state ^ secret, (uint64_t)length ^ cache->secrets[0]);
    return key != 0 ? key : 1;
}

static inline Entry *bucket_of(const LinkCache *cache, uint64_t key) {
    return cache->entries + (key & (cache->buckets - 1)) * WAYS;
}

static inline uint64_t remembered(const LinkCache *cache, uint64_t key) {
    const Entry *bucket = bucket_of(cache, key);
    for (int way = 0; way < WAYS; way++) {
        if (bucket[way].key == key) {
            return bucket[way].value;
        }
    }
    return 0;
}

/* The link with all it takes from its page written out, into `to`, which has room for LONGEST_TEXT bytes; its length, or 0
   if that needs a parser, or is too long. The same as `absolute` in parse/links.py. */
static inline size_t write_out(const Place *place, const char *href, size_t length, char *to) {
    const char *before = place->folder;
    size_t before_length = place->folder_length;
    byte first = (byte)href[0];
    if (length >= 3 && memcmp(href, "../", 3) == 0) {
        while (length >= 3 && memcmp(href, "../", 3) == 0) {
            href += 3;
            length -= 3;
            if (before_length > place->home_length + 1) {
                before_length--;
                while (before_length > 0 && before[before_length - 1] != '/') {
                    before_length--;
                }
            }
        }
    } else if ((length >= 7 && memcmp(href, "http://", 7) == 0) || (length >= 8 && memcmp(href, "https://", 8) == 0)) {
        before_length = 0;
    } else if (first == '/') {
        if (length > 1 && (href[1] == '/' || href[1] == '\\' || href[1] == '\t' || href[1] == '\n' || href[1] == '\r')) {
            return 0; /* on another host */
        }
        before = place->home;
        before_length = place->home_length;
    } else if (first <= ' ' || first == '?' || first == '#' || first == '\\' || memchr(href, ':', length) != NULL) {
        return 0;
    }
    if (before_length + length > LONGEST_TEXT) {
        return 0;
    }
    memcpy(to, before, before_length);
    memcpy(to + before_length, href, length);
    return before_length + length;
}

/* Adds a number that is not 0 to a set with open addresses; whether it was new. */
static inline bool add_to_set(uint64_t *set, size_t mask, uint64_t number) {
    size_t slot = number & mask;
    while (set[slot] != 0) {
        if (set[slot] == number) {
            return false;
        }
        slot = (slot + 1) & mask;
    }
    set[slot] = number;
    return true;
}

/* How many slots a set for so many numbers has: a power of two, above twice as many. */
static inline size_t slots_for(size_t count) {
    size_t slots = 16;
    while (slots < 2 * count + 2) {
        slots *= 2;
    }
    return slots;
}

/* How many bytes of a link stand before its fragment. */
static inline size_t without_fragment(const char *text, size_t length) {
    const char *mark = memchr(text, '#', length);
    /* Behind white space it is the parser's to say where the URL ends. */
    return mark != NULL && (mark == text || (byte)mark[-1] > ' ') ? (size_t)(mark - text) : length;
}

/* anchors.c */
PyObject *cache_anchors(PyObject *self, PyObject *args);

#endif
