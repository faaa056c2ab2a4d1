"""Human-readable robots and results: trees, tables, the style of the plots."""
