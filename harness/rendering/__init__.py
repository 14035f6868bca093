"""Convert results to text and pictures: numbers with units, tables, text plots and SVG pictures."""
