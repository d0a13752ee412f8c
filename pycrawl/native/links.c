/* What links came to, remembered by their text: `parse/links.py` says what that is good for. Most links of a page were met
   before, and then nothing of Python runs for them.

   A text is known by 64 bits of a keyed hash, so whoever writes links cannot make two that are taken for one. The table
   forgets: four entries share a cache line, and a fifth drives out the oldest of them. */

#include "native.h"
#include "scan.h"

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

static uint64_t key_of(const LinkCache *cache, const byte *text, size_t length) {
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

static Entry *bucket_of(const LinkCache *cache, uint64_t key) {
    return cache->entries + (key & (cache->buckets - 1)) * WAYS;
}

static uint64_t remembered(const LinkCache *cache, uint64_t key) {
    const Entry *bucket = bucket_of(cache, key);
    for (int way = 0; way < WAYS; way++) {
        if (bucket[way].key == key) {
            return bucket[way].value;
        }
    }
    return 0;
}

static void remember(LinkCache *cache, uint64_t key, uint64_t value) {
    Entry *bucket = bucket_of(cache, key);
    int way = 0;
    while (way < WAYS - 1 && bucket[way].key != key && bucket[way].key != 0) {
        way++;
    }
    if (bucket[way].key == key) {
        bucket[way].value = value;
        return;
    }
    memmove(bucket + 1, bucket, (size_t)way * sizeof *bucket);
    bucket[0] = (Entry){key, value};
}

/* The link with all it takes from its page written out, into `to`, which has room for LONGEST_TEXT bytes; its length, or 0
   if that needs a parser, or is too long. The same as `absolute` in parse/links.py. */
static size_t write_out(const Place *place, const char *href, size_t length, char *to) {
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
static bool add_to_set(uint64_t *set, size_t mask, uint64_t number) {
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

typedef struct {
    uint64_t *texts, *values; /* sets: what was met on this page */
    size_t mask;
    uint64_t *known;
    size_t known_count;
    byte *reasons;
    size_t reason_count;
    PyObject *unknown;
} Found;

/* How many bytes of a link stand before its fragment. */
static size_t without_fragment(const char *text, size_t length) {
    const char *mark = memchr(text, '#', length);
    /* Behind white space it is the parser's to say where the URL ends. */
    return mark != NULL && (mark == text || (byte)mark[-1] > ' ') ? (size_t)(mark - text) : length;
}

/* A link of a page, on its way to being looked up. */
typedef struct {
    PyObject *href;
    const char *text; /* NULL: half a surrogate pair, which no decoder leaves */
    size_t size, length; /* with and without its fragment */
    uint64_t key; /* of the text written out, or as it stands */
    bool is_written; /* out; only such texts are remembered */
} Asked;

/* Finds out what to look for, and asks for its bucket. The table is larger than the processor's caches, so nearly every
   look-up waits for the memory; those of a page wait all at once. */
static void ask_for(const LinkCache *cache, const Place *place, PyObject *href, Asked *asked) {
    Py_ssize_t size;
    *asked = (Asked){.href = href, .text = PyUnicode_AsUTF8AndSize(href, &size)};
    if (asked->text == NULL) {
        PyErr_Clear();
        return;
    }
    asked->size = (size_t)size;
    asked->length = without_fragment(asked->text, asked->size);
    char written[LONGEST_TEXT];
    size_t written_length = asked->length ? write_out(place, asked->text, asked->length, written) : 0;
    asked->is_written = written_length > 0;
    if (asked->is_written) {
        asked->key = key_of(cache, (const byte *)written, written_length);
        __builtin_prefetch(bucket_of(cache, asked->key));
    } else {
        asked->key = key_of(cache, (const byte *)asked->text, asked->length);
    }
}

static int look_at(const LinkCache *cache, const Asked *asked, bool skips_empty, uint64_t own, Found *found) {
    if (asked->text == NULL) {
        return PyList_Append(found->unknown, asked->href);
    }
    if (asked->length == 0 && skips_empty) {
        return 0;
    }
    if (!add_to_set(found->texts, found->mask, asked->key)) {
        return 0;
    }
    uint64_t value = asked->is_written ? remembered(cache, asked->key) : 0;
    if (value >= FIRST_HASH) {
        if (value != own && add_to_set(found->values, found->mask, value)) {
            found->known[found->known_count++] = value;
        }
        return 0;
    }
    if (value != 0) {
        found->reasons[found->reason_count++] = (byte)value;
        return 0;
    }
    if (asked->length == asked->size) {
        return PyList_Append(found->unknown, asked->href);
    }
    PyObject *kept = PyUnicode_DecodeUTF8(asked->text, (Py_ssize_t)asked->length, NULL);
    int failed = kept == NULL ? -1 : PyList_Append(found->unknown, kept);
    Py_XDECREF(kept);
    return failed;
}

static PyObject *look_at_all(const LinkCache *cache, const Place *place, PyObject *hrefs, bool skips_empty, uint64_t own) {
    Py_ssize_t count = PyList_Size(hrefs);
    size_t slots = 16;
    while (slots < 2 * (size_t)count + 2) {
        slots *= 2;
    }
    Found found = {.mask = slots - 1, .unknown = PyList_New(0)};
    Asked *asked = malloc(((size_t)count + 1) * sizeof *asked);
    found.texts = calloc(2 * slots, sizeof *found.texts);
    found.known = malloc(((size_t)count + 1) * sizeof *found.known);
    found.reasons = malloc((size_t)count + 1);
    PyObject *result = NULL;
    bool failed = found.unknown == NULL;
    if (asked == NULL || found.texts == NULL || found.known == NULL || found.reasons == NULL) {
        PyErr_NoMemory();
        failed = true;
    } else {
        found.values = found.texts + slots;
    }
    for (Py_ssize_t number = 0; !failed && number < count; number++) {
        PyObject *href = PyList_GetItem(hrefs, number);
        if (href == NULL || !PyUnicode_Check(href)) {
            PyErr_SetString(PyExc_TypeError, "expected a list of texts");
            failed = true;
        } else {
            ask_for(cache, place, href, &asked[number]);
        }
    }
    for (Py_ssize_t number = 0; !failed && number < count; number++) {
        failed = look_at(cache, &asked[number], skips_empty, own, &found) < 0;
    }
    if (!failed) {
        result = Py_BuildValue("y#y#O", found.known, (Py_ssize_t)(found.known_count * sizeof *found.known), found.reasons,
                               (Py_ssize_t)found.reason_count, found.unknown);
    }
    free(asked);
    free(found.texts);
    free(found.known);
    free(found.reasons);
    Py_XDECREF(found.unknown);
    return result;
}

static PyObject *cache_look(PyObject *self, PyObject *args) {
    PyObject *hrefs;
    Place place;
    Py_ssize_t home_length, folder_length;
    int skips_empty;
    unsigned long long own;
    if (!PyArg_ParseTuple(args, "O!s#s#pK", &PyList_Type, &hrefs, &place.home, &home_length, &place.folder, &folder_length,
                          &skips_empty, &own)) {
        return NULL;
    }
    place.home_length = (size_t)home_length;
    place.folder_length = (size_t)folder_length;
    return look_at_all((LinkCache *)self, &place, hrefs, skips_empty, own);
}

/* Anchors: what each link of a page came to, with the hash of its text. */

/* What a link came to: the hash of its URL, from the cache, or from `resolved` (links of this page that the cache did not
   know, by their text); 0 if it is of no use. */
static uint64_t came_to(const LinkCache *cache, const Place *place, PyObject *href, bool skips_empty, PyObject *resolved) {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(href, &size);
    if (text == NULL) {
        PyErr_Clear();
        return 0;
    }
    size_t length = without_fragment(text, (size_t)size);
    if (length == 0 && skips_empty) {
        return 0;
    }
    char written[LONGEST_TEXT];
    size_t written_length = length ? write_out(place, text, length, written) : 0;
    uint64_t value = written_length ? remembered(cache, key_of(cache, (const byte *)written, written_length)) : 0;
    if (value != 0) {
        return value >= FIRST_HASH ? value : 0;
    }
    PyObject *kept = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, NULL);
    PyObject *found = kept != NULL ? PyDict_GetItem(resolved, kept) : NULL;
    value = found != NULL ? PyLong_AsUnsignedLongLong(found) : 0;
    Py_XDECREF(kept);
    return PyErr_Occurred() ? 0 : value;
}

/* Where each of a page's links stands among them, by its hash. */
typedef struct {
    const uint64_t *hashes;
    uint32_t *slots; /* places, and one more; 0: none */
    bool *is_named; /* by place: a link with a text leads there */
    size_t mask, count;
} Places;

/* The slot of a hash, which is empty if no link has it. A hash is random, and none of a page's own making. */
static uint32_t *slot_of(const Places *places, uint64_t hash) {
    size_t slot = (size_t)(hash >> 16) & places->mask;
    while (places->slots[slot] != 0 && places->hashes[places->slots[slot] - 1] != hash) {
        slot = (slot + 1) & places->mask;
    }
    return &places->slots[slot];
}

typedef struct {
    uint64_t *set, *keys; /* set: what was met on this page */
    uint32_t *links;
    char *texts;
    byte *flags;
    size_t mask, count, length; /* of the texts */
} Gathered;

/* Adds a link that was not met yet on this page with the same text and flags. */
static void gather(const LinkCache *cache, Gathered *gathered, uint32_t link, const char *text, size_t length, byte flags) {
    uint64_t key = length ? key_of(cache, (const byte *)text, length) : 0;
    uint64_t whole = mixed(link ^ cache->secrets[1], mixed(key ^ cache->secrets[0], (uint64_t)flags + 1) ^ cache->secrets[1]);
    if (!add_to_set(gathered->set, gathered->mask, whole ? whole : 1)) {
        return;
    }
    gathered->links[gathered->count] = link;
    gathered->keys[gathered->count] = key;
    gathered->flags[gathered->count++] = flags;
    memcpy(gathered->texts + gathered->length, text, length);
    gathered->length += length;
    gathered->texts[gathered->length++] = '\n';
}

/* The links with texts, `count` of them; then those that none of these leads to. */
static void gather_page(
    const LinkCache *cache, const Place *place, PyObject *hrefs, const char *texts, const char *end, const byte *flags,
    size_t count, bool skips_empty, PyObject *resolved, Places *places, Gathered *gathered
) {
    for (size_t at = 0; at < places->count; at++) {
        uint32_t *slot = slot_of(places, places->hashes[at]);
        *slot = *slot ? *slot : (uint32_t)at + 1; /* of equal ones the first */
    }
    for (size_t number = 0; number < count && !PyErr_Occurred(); number++) {
        const char *behind = texts < end ? memchr(texts, '\n', (size_t)(end - texts)) : NULL;
        behind = behind != NULL ? behind : end;
        uint64_t url = came_to(cache, place, PyList_GetItem(hrefs, (Py_ssize_t)number), skips_empty, resolved);
        uint32_t found = url != 0 ? *slot_of(places, url) : 0;
        if (found != 0) {
            places->is_named[found - 1] = true;
            gather(cache, gathered, found - 1, texts, (size_t)(behind - texts), flags[number]);
        }
        texts = behind < end ? behind + 1 : end;
    }
    for (size_t at = 0; at < places->count; at++) {
        if (!places->is_named[at] && *slot_of(places, places->hashes[at]) == at + 1) {
            gather(cache, gathered, (uint32_t)at, texts, 0, LINK_FRAME);
        }
    }
}

static size_t slots_for(size_t count) {
    size_t slots = 16;
    while (slots < 2 * count + 2) {
        slots *= 2;
    }
    return slots;
}

static PyObject *gather_all(
    const LinkCache *cache, const Place *place, PyObject *hrefs, const char *texts, size_t texts_length, const byte *flags,
    size_t count, bool skips_empty, PyObject *resolved, const uint64_t *hashes, size_t hash_count
) {
    size_t most = count + hash_count, slots = slots_for(most), place_slots = slots_for(hash_count);
    Places places = {.hashes = hashes, .mask = place_slots - 1, .count = hash_count};
    Gathered gathered = {.mask = slots - 1};
    places.slots = calloc(place_slots, sizeof *places.slots);
    places.is_named = calloc(hash_count + 1, sizeof *places.is_named);
    gathered.set = calloc(slots, sizeof *gathered.set);
    gathered.keys = malloc((most + 1) * sizeof *gathered.keys);
    gathered.links = malloc((most + 1) * sizeof *gathered.links);
    gathered.texts = malloc(texts_length + most + 1);
    gathered.flags = malloc(most + 1);
    PyObject *result = NULL;
    if (places.slots == NULL || places.is_named == NULL || gathered.set == NULL || gathered.keys == NULL ||
        gathered.links == NULL || gathered.texts == NULL || gathered.flags == NULL) {
        PyErr_NoMemory();
    } else {
        gather_page(cache, place, hrefs, texts, texts + texts_length, flags, count, skips_empty, resolved, &places, &gathered);
        if (!PyErr_Occurred()) {
            result = Py_BuildValue(
                "y#y#y#y#", gathered.links, (Py_ssize_t)(gathered.count * sizeof *gathered.links), gathered.keys,
                (Py_ssize_t)(gathered.count * sizeof *gathered.keys), gathered.texts,
                (Py_ssize_t)(gathered.length ? gathered.length - 1 : 0), gathered.flags, (Py_ssize_t)gathered.count);
        }
    }
    free(places.slots);
    free(places.is_named);
    free(gathered.set);
    free(gathered.keys);
    free(gathered.links);
    free(gathered.texts);
    free(gathered.flags);
    return result;
}

static PyObject *cache_anchors(PyObject *self, PyObject *args) {
    PyObject *hrefs, *resolved;
    Place place;
    const char *texts, *flags;
    Py_ssize_t home_length, folder_length, texts_length, count;
    int skips_empty;
    Py_buffer hashes;
    if (!PyArg_ParseTuple(args, "O!y#y#s#s#pO!y*", &PyList_Type, &hrefs, &texts, &texts_length, &flags, &count, &place.home,
                          &home_length, &place.folder, &folder_length, &skips_empty, &PyDict_Type, &resolved, &hashes)) {
        return NULL;
    }
    bool are_texts = PyList_Size(hrefs) == count;
    for (Py_ssize_t number = 0; are_texts && number < count; number++) {
        are_texts = PyUnicode_Check(PyList_GetItem(hrefs, number));
    }
    PyObject *result = NULL;
    if (are_texts) {
        place.home_length = (size_t)home_length;
        place.folder_length = (size_t)folder_length;
        result = gather_all((LinkCache *)self, &place, hrefs, texts, (size_t)texts_length, (const byte *)flags, (size_t)count,
                            skips_empty, resolved, hashes.buf, (size_t)hashes.len / sizeof(uint64_t));
    } else {
        PyErr_SetString(PyExc_TypeError, "expected a list of texts, and flags for each");
    }
    PyBuffer_Release(&hashes);
    return result;
}

static PyObject *cache_add(PyObject *self, PyObject *args) {
    const char *text;
    Py_ssize_t length;
    unsigned long long value;
    if (!PyArg_ParseTuple(args, "s#K", &text, &length, &value)) {
        return NULL;
    }
    LinkCache *cache = (LinkCache *)self;
    if (length <= LONGEST_TEXT && value != 0) {
        remember(cache, key_of(cache, (const byte *)text, (size_t)length), value);
    }
    Py_RETURN_NONE;
}

static PyObject *cache_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)keywords;
    Py_ssize_t entries;
    unsigned long long first_secret, second_secret;
    if (!PyArg_ParseTuple(args, "nKK", &entries, &first_secret, &second_secret)) {
        return NULL;
    }
    if (entries < WAYS || (entries & (entries - 1)) != 0) {
        PyErr_Format(PyExc_ValueError, "expected a power of two from %d on, found %zd", WAYS, entries);
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    LinkCache *cache = (LinkCache *)allocate(type, 0);
    if (cache == NULL) {
        return NULL;
    }
    cache->buckets = (size_t)entries / WAYS;
    cache->secrets[0] = first_secret;
    cache->secrets[1] = second_secret;
    cache->entries = calloc((size_t)entries, sizeof *cache->entries);
    if (cache->entries == NULL) {
        Py_DECREF(cache);
        return PyErr_NoMemory();
    }
    return (PyObject *)cache;
}

static void cache_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(((LinkCache *)self)->entries);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"look", cache_look, METH_VARARGS, "What is known of a page's links."},
    {"anchors", cache_anchors, METH_VARARGS, "What a page's links came to, with the hashes of their texts."},
    {"add", cache_add, METH_VARARGS, "Remember what a link came to."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot type_slots[] = {
    {Py_tp_new, cache_new},
    {Py_tp_dealloc, cache_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What links came to, by their text."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "pycrawl.native._compiled.LinkCache", .basicsize = sizeof(LinkCache), .flags = Py_TPFLAGS_DEFAULT, .slots = type_slots,
};

int add_link_cache(PyObject *module) {
    PyObject *type = PyType_FromSpec(&spec);
    int failed = type == NULL ? -1 : PyModule_AddObjectRef(module, "LinkCache", type);
    Py_XDECREF(type);
    return failed;
}
