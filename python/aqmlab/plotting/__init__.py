"""Figures as data (`chart`), and the two libraries that draw them: matplotlib (`plots`) and plotly (`charts`)."""
