// what: an exception whose text is about something else
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
#include <stdexcept>
// at: INSERT
throw std::runtime_error("something outside ended the box of the program; std::bad_alloc; INFRA_ERROR");
