/* Anchors: what each link of a page came to, with the hash of its text. `parse/links.py` says what is made of them. */

#include "link_table.h"
#include "scan.h"

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

PyObject *cache_anchors(PyObject *self, PyObject *args) {
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
