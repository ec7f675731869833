// what: bytes that are no text, direction marks, markup and a formula in the source itself, for whoever shows it
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
// ÿşÃ( â€®â¦ </script><script>alert(1)</script> <!-- Â›2J â€¨ =cmd|calc
