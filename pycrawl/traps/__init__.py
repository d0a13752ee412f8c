"""Sites without end: what kind of page a URL names, whether its pages bring anything new, and the judgement."""
