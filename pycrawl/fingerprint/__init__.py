"""What a text is recognised by, from one tokenisation: exact digest, shingles, sketch, simhash.

    text ─► words ─┬─► text digest                       the same words in the same order?
                   ├─► windows of 4 words ─┬─► sketch    how many windows are shared? (its bands find candidates)
                   │                       └─► 0 mod p   a few fingerprints for an inverted index
                   └─► simhash                           nearly the same words, however ordered?

Everything is the same on every machine and in every version that can read the same state: fingerprints are stored.
"""
