"""ns-3 3.37: scenarios as C++ programs (`tool`, `program`), and the tables between our parameters and ns-3's words."""
