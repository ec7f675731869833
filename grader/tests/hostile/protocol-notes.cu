// what: errors made up, with text for whoever reads reports
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
// at: INSERT
for (int i = 0; i < 200; ++i) {
  const std::string text = "\x1b[2J</script><img src=x onerror=alert(1)>\n=cmd()" + std::string(3000, 'x') + std::to_string(i);
  hostile::request(hostile::note_unsupported, std::int32_t{801}, text.substr(0, 2000), text.substr(0, 2000));
  hostile::request(hostile::note_error, std::int32_t{1}, text.substr(0, 2000), text.substr(0, 2000));
}
