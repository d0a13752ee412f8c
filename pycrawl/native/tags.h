/* Names of elements, and how each is treated; any other element is a box. */

static const struct {
    const char *names;
    uint8_t tag;
} TAGS[] = {
    {"a", TAG_A}, {"br", TAG_BR}, {"body", TAG_BODY}, {"html", TAG_HTML}, {"head", TAG_HEAD}, {"article", TAG_ARTICLE},
    {"main", TAG_MAIN}, {"nav", TAG_NAV}, {"footer", TAG_FOOTER}, {"aside", TAG_ASIDE}, {"menu", TAG_MENU},
    {"dialog", TAG_DIALOG}, {"figure", TAG_FIGURE}, {"figcaption", TAG_FIGCAPTION}, {"header", TAG_HEADER},
    {"form", TAG_FORM}, {"address", TAG_ADDRESS}, {"p", TAG_P}, {"div", TAG_DIV}, {"li", TAG_LI}, {"ul dir", TAG_UL},
    {"ol", TAG_OL}, {"dl", TAG_DL}, {"dd", TAG_DD}, {"dt", TAG_DT}, {"pre listing", TAG_PRE},
    {"blockquote", TAG_BLOCKQUOTE}, {"table", TAG_TABLE}, {"caption", TAG_CAPTION}, {"tbody thead tfoot", TAG_ROWS},
    {"tr", TAG_TR}, {"td", TAG_TD}, {"th", TAG_TH}, {"h1", TAG_H1}, {"h2", TAG_H2}, {"h3", TAG_H3}, {"h4", TAG_H4},
    {"h5", TAG_H5}, {"h6", TAG_H6}, {"section hgroup search", TAG_SECTION}, {"center", TAG_CENTER},
    {"details", TAG_DETAILS}, {"summary", TAG_SUMMARY}, {"fieldset", TAG_FIELDSET}, {"hr", TAG_HR},
    {"abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike "
     "strong sub sup time tt u var option optgroup colgroup map picture ruby rb rt rp rtc", TAG_INLINE},
    {"img input wbr embed source track col param basefont bgsound keygen", TAG_VOID}, {"script", TAG_SCRIPT},
    {"style", TAG_STYLE}, {"title", TAG_TITLE}, {"textarea", TAG_TEXTAREA}, {"iframe", TAG_IFRAME},
    {"xmp noembed noframes", TAG_RAW}, {"plaintext", TAG_PLAINTEXT},
    {"noscript template object canvas audio video select button datalist frameset", TAG_UNSEEN},
    {"svg math", TAG_FOREIGN}, {"area", TAG_AREA}, {"frame", TAG_FRAME}, {"link", TAG_LINK}, {"meta", TAG_META},
    {"base", TAG_BASE},
};
