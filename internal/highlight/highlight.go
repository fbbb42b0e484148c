// Package highlight colours source code: files and changes on pages, fenced code in Markdown.
//
//   - lexer.go: the language of a text, and the pieces that its lexer finds, within bounds
//   - texts.go: Texts colours and keeps texts, a few at a time; what takes long is plain
//   - lines.go: lines of a text as HTML, and marks within them
//
// Lexers are regular expressions that people wrote for usual texts, and a text can be made so that they take
// long. So each caller sets a limit of time.
package highlight
