// A shared library that is no plug-in.
int holdall_something_else() { return 1; }
