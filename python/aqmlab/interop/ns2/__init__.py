"""ns-2 2.35: scenarios as Tcl scripts (`tool`, `script`), and the tables between our parameters and ns-2's words."""
