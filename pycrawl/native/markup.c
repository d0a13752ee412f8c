/* Markup as the HTML standard's tokeniser reads it: tags, attributes, comments, raw text; and the doctype. */

#include "scan.h"

static const bool ends_name[256] = {
    [' '] = true, ['\t'] = true, ['\n'] = true, ['\f'] = true, ['\r'] = true, ['/'] = true, ['>'] = true,
};

/* Attributes */

/* The value behind "=": where it ends, or NULL if the markup does before. */
static const byte *read_value(Attribute *found, const byte *at, const byte *end) {
    while (at < end && is_space[*at]) {
        at++;
    }
    if (at == end) {
        return NULL;
    }
    if (*at == '"' || *at == '\'') {
        const byte *behind = memchr(at + 1, *at, (size_t)(end - at - 1));
        if (behind != NULL) {
            found->value = at + 1;
            found->value_length = (size_t)(behind - at - 1);
            return behind + 1;
        }
        return NULL;
    }
    found->value = at;
    while (at < end && !is_space[*at] && *at != '>') {
        at++;
    }
    found->value_length = (size_t)(at - found->value);
    return at;
}

/* Attributes up to the end of the tag. Returns where that is, or NULL if the markup ends before, or with an error set. */
static const byte *read_attributes(Page *page, const byte *at) {
    const byte *end = page->end;
    page->attribute_count = 0;
    page->is_self_closing = false;
    while (true) {
        while (at < end && (is_space[*at] || *at == '/')) {
            page->is_self_closing = *at == '/';
            at++;
        }
        if (at == end) {
            return NULL;
        }
        if (*at == '>') {
            return at + 1;
        }
        page->is_self_closing = false;
        Attribute found = {.name = at, .value = at};
        do { /* "=" as the first character belongs to the name */
            at++;
        } while (at < end && !ends_name[*at] && *at != '=');
        found.name_length = (size_t)(at - found.name);
        const byte *behind = at;
        while (behind < end && is_space[*behind]) {
            behind++;
        }
        if (behind < end && *behind == '=') {
            at = read_value(&found, behind + 1, end);
            if (at == NULL) {
                return NULL;
            }
        }
        if (page->attribute_count == page->attribute_room &&
            more_room((void **)&page->attributes, &page->attribute_room, page->attribute_room + 1, sizeof found) < 0) {
            return NULL;
        }
        page->attributes[page->attribute_count++] = found;
    }
}

/* Raw text */

static bool begins_end_tag(const byte *at, const byte *end, const char *name, size_t length) {
    if ((size_t)(end - at) <= length + 2 || at[0] != '<' || at[1] != '/') {
        return false;
    }
    for (size_t place = 0; place < length; place++) {
        if (small(at[2 + place]) != (byte)name[place]) {
            return false;
        }
    }
    return ends_name[at[2 + length]];
}

/* A script that has a comment with a script in it does not end with that one. */
static const byte *end_of_script(const byte *at, const byte *end) {
    bool in_comment = false, in_inner = false;
    for (; at < end; at++) {
        if (*at == '<') {
            if (begins_end_tag(at, end, "script", 6)) {
                if (!in_inner) {
                    return at;
                }
                in_inner = false;
            } else if (end - at >= 4 && memcmp(at, "<!--", 4) == 0) {
                in_comment = true;
                at += 1; /* its dashes may be those of its end */
            } else if (in_comment && end - at > 7 && ends_name[at[7]] && name_hash(at + 1, 6) == name_hash((const byte *)"script", 6)) {
                in_inner = true;
            }
        } else if (*at == '-' && in_comment && end - at >= 3 && at[1] == '-' && at[2] == '>') {
            in_comment = in_inner = false;
        }
        if (!in_comment) {
            const byte *next = memchr(at + 1, '<', (size_t)(end - at - 1));
            at = next != NULL ? next - 1 : end - 1;
        }
    }
    return end;
}

static const byte *end_of_raw(const byte *at, const byte *end, const char *name) {
    size_t length = strlen(name);
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if (begins_end_tag(at, end, name, length)) {
            return at;
        }
        at++;
    }
    return end;
}

void skip_raw_text(Page *page, const char *name) {
    page->at = end_of_raw(page->at, page->end, name);
}

void skip_script(Page *page) {
    page->at = end_of_script(page->at, page->end);
}

/* Tags and comments */

static int read_tag(Page *page, const byte *name, bool is_end) {
    const byte *at = name;
    while (at < page->end && !ends_name[*at]) {
        at++;
    }
    size_t length = (size_t)(at - name);
    page->name = name_hash(name, length);
    page->tag = tag_of(name, length, page->name);
    at = read_attributes(page, at);
    if (at == NULL) { /* the markup ends within the tag, which so is none */
        page->at = page->end;
        return PyErr_Occurred() ? -1 : 0;
    }
    page->at = at;
    return is_end ? end_element(page) : begin_element(page);
}

static const byte *behind_next(const byte *at, const byte *end, byte code) {
    const byte *found = at < end ? memchr(at, code, (size_t)(end - at)) : NULL;
    return found != NULL ? found + 1 : end;
}

static const byte *behind_comment(const byte *at, const byte *end) {
    if (at < end && *at == '>') {
        return at + 1;
    }
    if (end - at >= 2 && at[0] == '-' && at[1] == '>') {
        return at + 2;
    }
    while (at < end && (at = memchr(at, '-', (size_t)(end - at))) != NULL) {
        if (end - at >= 3 && at[1] == '-' && (at[2] == '>' || (end - at >= 4 && at[2] == '!' && at[3] == '>'))) {
            return at + (at[2] == '>' ? 3 : 4);
        }
        at++;
    }
    return end;
}

static const byte *behind_cdata(const byte *at, const byte *end) {
    while (at < end && (at = memchr(at, ']', (size_t)(end - at))) != NULL) {
        if (end - at >= 3 && at[1] == ']' && at[2] == '>') {
            return at + 3;
        }
        at++;
    }
    return end;
}

/* What begins with "<": a tag, a comment, or text after all. */
static int read_markup(Page *page, const byte **text) {
    const byte *at = page->at, *end = page->end;
    byte next = end - at > 1 ? at[1] : 0;
    if (is_letter(next)) {
        int failed = read_tag(page, at + 1, false);
        *text = page->at;
        return failed;
    }
    if (next == '/' && end - at > 2 && is_letter(at[2])) {
        int failed = read_tag(page, at + 2, true);
        *text = page->at;
        return failed;
    }
    if (next == '!' && end - at >= 4 && at[2] == '-' && at[3] == '-') {
        *text = page->at = behind_comment(at + 4, end);
    } else if (end - at >= 9 && memcmp(at, "<![CDATA[", 9) == 0 && current(page)->namespace != IN_HTML) {
        *text = page->at = behind_cdata(at + 9, end); /* text, of which none is seen in svg and math */
    } else if (next == '!' || next == '?' || (next == '/' && end - at > 2)) {
        *text = page->at = behind_next(at + 2, end, '>');
    } else {
        page->at = at + 1; /* the text goes on */
    }
    return 0;
}

/* The doctype */

/* Beginnings of public identifiers, in small letters, with which a page is read as old browsers did: the HTML standard's
   list ("the initial insertion mode"), as short as tells them from others. */
static const char *const OLD_DOCTYPES[] = {
    "+//silmaril//", "-//as//", "-//advasoft ltd//", "-//ietf//dtd html", "-//metrius//",
    "-//microsoft//dtd internet explorer", "-//netscape comm. corp.//", "-//o'reilly and associates//", "-//sq//",
    "-//softquad", "-//spyglass//", "-//sun microsystems corp.//", "-//w3c//dtd html 3", "-//w3c//dtd html 4.0 frameset//",
    "-//w3c//dtd html 4.0 transitional//", "-//w3c//dtd html experimental", "-//w3c//dtd w3 html", "-//w3o//dtd w3 html",
    "-//webtechs//", "-/w3c/dtd html 4.0 transitional/en", "html\"", "html'",
};
/* These are old only if no system identifier follows. */
static const char *const HALF_OLD_DOCTYPES[] = {"-//w3c//dtd html 4.01 frameset//", "-//w3c//dtd html 4.01 transitional//"};

static bool begins_with(const byte *at, const byte *end, const char *word) {
    while (*word && at < end && small(*at) == (byte)*word) {
        word++;
        at++;
    }
    return !*word;
}

static const byte *behind_spaces(const byte *at, const byte *end) {
    while (at < end && is_space[*at]) {
        at++;
    }
    return at;
}

/* Whether a doctype, between its "<!doctype" and its ">", is one of those of old pages. */
static bool is_old_doctype(const byte *at, const byte *end) {
    at = behind_spaces(at, end);
    if (!begins_with(at, end, "html") || (end - at > 4 && !is_space[at[4]])) {
        return true;
    }
    at = behind_spaces(at + 4, end);
    if (!begins_with(at, end, "public")) {
        return at < end && !begins_with(at, end, "system");
    }
    at = behind_spaces(at + 6, end);
    const byte *identifier = at + 1, *behind = at < end ? memchr(identifier, *at, (size_t)(end - identifier)) : NULL;
    if (behind == NULL) {
        return true;
    }
    for (size_t row = 0; row < sizeof OLD_DOCTYPES / sizeof *OLD_DOCTYPES; row++) {
        if (begins_with(identifier, end, OLD_DOCTYPES[row])) {
            return true;
        }
    }
    bool has_system = behind_spaces(behind + 1, end) < end;
    for (size_t row = 0; row < 2; row++) {
        if (!has_system && begins_with(identifier, end, HALF_OLD_DOCTYPES[row])) {
            return true;
        }
    }
    return false;
}

/* Looks for the doctype, which only comments may stand before. */
static void read_doctype(Page *page) {
    const byte *at = behind_spaces(page->at, page->end);
    while (begins_with(at, page->end, "<!--")) {
        at = behind_spaces(behind_comment(at + 4, page->end), page->end);
    }
    const byte *end = at < page->end ? memchr(at, '>', (size_t)(page->end - at)) : NULL;
    page->is_quirky = end == NULL || !begins_with(at, end, "<!doctype") || is_old_doctype(at + 9, end);
}

/* The whole page */

static int add_seen_text(Page *page, const byte *from, const byte *end) {
    bool is_seen = page->wants_text && from < end && !page->boxes[page->box].unseen;
    return is_seen ? add_text(page, from, end, false) : 0;
}

int read_page(Page *page) {
    read_doctype(page);
    const byte *text = page->at; /* where the text begins that was not read yet */
    while (page->at < page->end) {
        const byte *next = memchr(page->at, '<', (size_t)(page->end - page->at));
        page->at = next != NULL ? next : page->end;
        const byte *markup = page->at;
        if (markup < page->end) {
            byte first = page->end - markup > 1 ? markup[1] : 0;
            if (!is_letter(first) && first != '/' && first != '!' && first != '?') {
                page->at = markup + 1;
                continue;
            }
        }
        if (add_seen_text(page, text, markup) < 0) {
            return -1;
        }
        text = markup;
        if (markup < page->end && read_markup(page, &text) < 0) {
            return -1;
        }
    }
    return add_seen_text(page, text, page->end) < 0 || end_link(page) < 0 ? -1 : end_block(page);
}
