/* How much the names of a box tell that it frames the page: the rules of parse/frame_names.py, which says why. */

#include "scan.h"

#define MOST_WORDS 1024 /* places for the words that are known; a power of two, twice as many as there may be */
#define LONGEST_WORD 23 /* bytes */
#define MOST_STARTS 32
#define MOST_READ 128 /* words of a token; a name has fewer letters */

enum { SOFT = 1, CONTENT = 2, STATE = 4, LAYOUT = 8, STEADY = 16 };

typedef struct {
    char letters[LONGEST_WORD + 1];
    byte length;
    byte level;
    byte flags;
} Word;

typedef struct {
    byte level, flags;
} Meaning;

static Word words[MOST_WORDS];
static Word starts[MOST_STARTS];
static size_t starts_count;
static uint8_t tag_levels[TAG_COUNT];
static bool is_content_tag[TAG_COUNT];
static Py_ssize_t longest_name;

static Word *word_place(const char *letters, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t place = 0; place < length; place++) {
        hash = (hash ^ (byte)letters[place]) * 16777619u;
    }
    size_t slot = hash % MOST_WORDS;
    while (words[slot].length && (words[slot].length != length || memcmp(words[slot].letters, letters, length) != 0)) {
        slot = (slot + 1) % MOST_WORDS;
    }
    return &words[slot];
}

static int set_word(Word *word, const char *letters, Py_ssize_t length, int level, int flags) {
    memcpy(word->letters, letters, (size_t)length);
    word->length = (byte)length;
    word->level = (byte)level;
    word->flags = (byte)flags;
    return 0;
}

static int refuse(const char *what) {
    PyErr_SetString(PyExc_ValueError, what);
    return -1;
}

static int take_word(PyObject *item) {
    const char *letters;
    Py_ssize_t length;
    int level, flags;
    if (!PyArg_ParseTuple(item, "s#ii", &letters, &length, &level, &flags)) {
        return -1;
    }
    return length > LONGEST_WORD ? refuse("expected shorter words")
                                 : set_word(word_place(letters, (size_t)length), letters, length, level, flags);
}

static int take_start(PyObject *item, int level, int flags) {
    Py_ssize_t length = 0;
    const char *letters = PyUnicode_AsUTF8AndSize(item, &length);
    if (letters == NULL) {
        return -1;
    }
    if (length > LONGEST_WORD || starts_count == MOST_STARTS) {
        return refuse("expected fewer or shorter starts");
    }
    return set_word(&starts[starts_count++], letters, length, level, flags);
}

static int take_sure_start(PyObject *item) {
    return take_start(item, LEVEL_SURE, 0);
}

static int take_steady_start(PyObject *item) {
    return take_start(item, 0, STEADY);
}

static uint8_t tag_named(const char *name, Py_ssize_t length) {
    return tag_of((const byte *)name, (size_t)length, name_hash((const byte *)name, (size_t)length));
}

static int take_tag(PyObject *item) {
    const char *name;
    Py_ssize_t length;
    int level;
    if (!PyArg_ParseTuple(item, "s#i", &name, &length, &level)) {
        return -1;
    }
    tag_levels[tag_named(name, length)] = (uint8_t)level;
    return 0;
}

static int take_content_tag(PyObject *item) {
    Py_ssize_t length = 0;
    const char *name = PyUnicode_AsUTF8AndSize(item, &length);
    if (name == NULL) {
        return -1;
    }
    is_content_tag[tag_named(name, length)] = true;
    return 0;
}

static int take_each(PyObject *sequence, int (*take)(PyObject *), Py_ssize_t most) {
    Py_ssize_t count = PySequence_Size(sequence);
    if (count > most) {
        return refuse("expected fewer words");
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *item = PySequence_GetItem(sequence, place);
        int taken = item != NULL ? take(item) : -1;
        Py_XDECREF(item);
        if (taken < 0) {
            return -1;
        }
    }
    return count < 0 ? -1 : 0;
}

PyObject *native_set_frame_names(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *content_tags, *tags, *known, *sure, *steady;
    if (!PyArg_ParseTuple(args, "nOOOOO", &longest_name, &content_tags, &tags, &known, &sure, &steady)) {
        return NULL;
    }
    memset(words, 0, sizeof words);
    memset(tag_levels, 0, sizeof tag_levels);
    memset(is_content_tag, 0, sizeof is_content_tag);
    starts_count = 0;
    if (longest_name > MOST_READ) {
        refuse("expected a shorter longest name");
        return NULL;
    }
    if (take_each(content_tags, take_content_tag, TAG_COUNT) < 0 || take_each(tags, take_tag, TAG_COUNT) < 0 ||
        take_each(known, take_word, MOST_WORDS / 2) < 0 || take_each(sure, take_sure_start, MOST_STARTS) < 0 ||
        take_each(steady, take_steady_start, MOST_STARTS) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static inline bool is_capital(char letter) {
    return letter >= 'A' && letter <= 'Z';
}

static inline bool is_small(char letter) {
    return letter >= 'a' && letter <= 'z';
}

static Meaning meaning_of(const char *letters, size_t length) {
    char lower[LONGEST_WORD];
    size_t shown = length < LONGEST_WORD ? length : LONGEST_WORD;
    for (size_t place = 0; place < shown; place++) {
        lower[place] = (char)(letters[place] | 0x20);
    }
    Meaning found = {0, 0};
    if (length <= LONGEST_WORD) {
        const Word *word = word_place(lower, length);
        found = (Meaning){word->level, word->flags};
    }
    for (size_t place = 0; place < starts_count; place++) {
        const Word *start = &starts[place];
        if (start->length <= shown && memcmp(start->letters, lower, start->length) == 0) {
            found.level = found.level > start->level ? found.level : start->level;
            found.flags |= start->flags;
        }
    }
    return found;
}

/* Reads the words of a token: runs of small letters with at most one capital in front, or runs of capitals. Returns how
   many there are. */
static size_t read_words(const char *token, size_t length, Meaning *read) {
    size_t count = 0, at = 0;
    while (at < length && count < MOST_READ) {
        size_t begin = at;
        if (is_capital(token[at]) && !(at + 1 < length && is_small(token[at + 1]))) {
            while (at < length && is_capital(token[at])) {
                at++;
            }
        } else if (is_capital(token[at]) || is_small(token[at])) {
            at++;
            while (at < length && is_small(token[at])) {
                at++;
            }
        } else {
            at++;
            continue;
        }
        read[count++] = meaning_of(token + begin, at - begin);
    }
    return count;
}

static Meaning read_token(const char *token, size_t length) {
    for (size_t place = 0; place + 1 < length; place++) {
        if (token[place] == '-' && token[place + 1] == '-') {
            length = place; /* the rest is a modifier */
        }
    }
    Meaning read[MOST_READ], found = {0, 0};
    size_t count = read_words(token, length, read);
    for (size_t place = 0; place < count; place++) {
        if (read[place].flags & LAYOUT) {
            return found;
        }
    }
    if (count == 0 || (count > 1 && (read[0].flags & STATE))) {
        return found;
    }
    found.flags = (read[0].flags | read[count - 1].flags) & CONTENT;
    bool is_about_content = found.flags != 0;
    for (size_t place = 0; place < count; place++) {
        int level = read[place].level;
        if (read[place].flags & SOFT) {
            level -= (place > 0 && place + 1 < count) + is_about_content;
        }
        found.level = level > found.level ? (byte)level : found.level;
        found.flags |= read[place].flags & STEADY;
    }
    return found;
}

static inline bool parts_tokens(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\f' || letter == '\r';
}

/* Reads all tokens of a name, and adds what they tell. */
static void read_name(const char *name, size_t length, int *named, bool *speaks_of_content, bool *is_steady) {
    length = length < (size_t)longest_name ? length : (size_t)longest_name;
    size_t at = 0;
    while (at < length) {
        size_t begin = at;
        while (at < length && !parts_tokens(name[at])) {
            at++;
        }
        if (at > begin) {
            Meaning token = read_token(name + begin, at - begin);
            *named = token.level > *named ? token.level : *named;
            *speaks_of_content |= (token.flags & CONTENT) && token.level == 0;
            *is_steady |= (token.flags & STEADY) != 0;
        }
        at++;
    }
}

int suspicion_of(uint8_t tag, const char *class_name, size_t class_length, const char *id, size_t id_length) {
    if (is_content_tag[tag]) {
        return 0;
    }
    if (tag_levels[tag] == LEVEL_HARD) {
        return LEVEL_HARD;
    }
    int named = 0;
    bool speaks_of_content = false, is_steady = false;
    read_name(class_name, class_length, &named, &speaks_of_content, &is_steady);
    read_name(id, id_length, &named, &speaks_of_content, &is_steady);
    if (named > 0 && speaks_of_content && !is_steady) {
        named--;
    }
    return named > tag_levels[tag] ? named : tag_levels[tag];
}
