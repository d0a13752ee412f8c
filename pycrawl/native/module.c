/* The module's table of contents; _compiled.pyi says what each function takes and gives. */

#include "native.h"

static PyMethodDef functions[] = {
    {"words", native_words, METH_VARARGS, "The hashes of a text's words, and which of them begin with a digit."},
    {"prints", native_prints, METH_VARARGS, "Sketch, simhash and selected windows of hashed words."},
    {"pairs", native_pairs, METH_VARARGS, "The smallest pairs of hashed words."},
    {"scan", native_scan, METH_VARARGS, "Links, title, text and main content of markup."},
    {"scan_body", native_scan_body, METH_O, "What bytes hold that decides how they are read and stored."},
    {"is_plain_pickle", native_is_plain_pickle, METH_O, "Is a pickle made of plain values only?"},
    {"places_in_runs", native_places_in_runs, METH_VARARGS, "Which keys each sorted run may have."},
    {"unpack_ids", native_unpack_ids, METH_O, "Keys and ids of a block of a sorted run."},
    {"find_ids", native_find_ids, METH_VARARGS, "Places and ids of keys in a block of a sorted run."},
    {"pack_ids", native_pack_ids, METH_VARARGS, "A block of keys with ids."},
    {"look_up", native_look_up, METH_VARARGS, "The ids of hashes in a sorted array."},
    {"merged_hashes", native_merged_hashes, METH_VARARGS, "Two sorted arrays of hashes as one, with their ids."},
    {"set_entities", native_set_entities, METH_O, "Named characters, as html.entities.html5 has them."},
    {"set_content_rules", native_set_content_rules, METH_VARARGS, "The constants of parse/frames.py and parse/text.py."},
    {"set_frame_names", native_set_frame_names, METH_VARARGS, "The words of parse/frame_names.py."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "pycrawl.native._compiled", .m_doc = "The hot path, compiled.", .m_size = -1, .m_methods = functions,
};

/* setup.py passes the digest of these C files, and the loader compares it with those that lie beside the module. */
#ifndef SOURCES_DIGEST
#define SOURCES_DIGEST ""
#endif

PyMODINIT_FUNC PyInit__compiled(void) {
    make_tags();
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && (add_link_cache(made) < 0 || PyModule_AddStringConstant(made, "SOURCES", SOURCES_DIGEST) < 0)) {
        Py_CLEAR(made);
    }
    return made;
}
