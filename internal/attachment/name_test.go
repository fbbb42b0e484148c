package attachment

import (
	"mime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"arbor/internal/markdown"
)

// A name that a browser sends is no path and no header, and in Markdown it is the text of one link or one
// picture.
func FuzzName(f *testing.F) {
	for _, name := range []string{"a.png", "../x", `a\b`, "a](b)", "<b>", "a\r\nX: y", "\xff", "文\u202e", "`",
		"\\", "&lt;", "![", "https://x.y", "www.example.com", "a@example.com", "_a_", "~~a~~", " ", "a  b",
		"#1 @sam", strings.Repeat("文", 200), "[ ]", "a\u00a0\u2028b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name := cleanName(given)
		if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\") ||
			strings.ContainsFunc(name, unicode.IsControl) || strings.HasPrefix(name, ".") {
			t.Errorf("%q becomes %q", given, name)
		}
		for _, shown := range []bool{true, false} {
			kind, params, err := mime.ParseMediaType(disposition(shown, name))
			if err != nil || params["filename"] != name || shown != (kind == "inline") {
				t.Errorf("%q gives %q: %v", name, disposition(shown, name), err)
			}
		}
		const to = "/alice/garden/attachments/abcdefghijklmnopqrstuvwxyz"
		doc := markdown.Parse("![" + escape(name) + "](" + to + ")")
		html := doc.HTML(markdown.Links{})
		if !strings.HasPrefix(html, `<p><img src="`+to+`" alt="`) || strings.Count(html, "<") != 3 {
			t.Errorf("%q gives %q", name, html)
		}
		html = markdown.Parse("[" + escape(name) + "](" + to + ")").HTML(markdown.Links{})
		if !strings.HasPrefix(html, `<p><a href="`+to+`"`) || strings.Count(html, "<") != 4 {
			t.Errorf("%q gives %q", name, html)
		}
	})
}

// A file is what its bytes say, and only pictures of a few kinds are shown.
func FuzzKind(f *testing.F) {
	for _, head := range []string{"GIF89a", "<svg", "\x89PNG\r\n\x1a\n", " \n<html>",
		"\x00\x00\x00\x1cftypavif", "\x00\x00\x00\x10ftypavis\x00\x00\x00\x00", "",
		"\x00\x00\x00\x1cftypmif1"} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		switch kind := kindOf(head); kind {
		case "image/png", "image/gif", "image/jpeg", "image/webp", "image/avif", "application/octet-stream":
			if strings.HasPrefix(strings.TrimSpace(string(head)), "<") && kind != "application/octet-stream" {
				t.Errorf("%q is %s", head, kind)
			}
		default:
			t.Errorf("%q is %s", head, kind)
		}
	})
}
