package highlight

import (
	"context"
	"regexp"
	"strings"
)

// lines returns HTML of each line of a text, all of it escaped. It is plain without a lexer, and from the
// point where the lexer runs out of time.
func lines(ctx context.Context, lexer *Lexer, text string) []string {
	w := &lineWriter{}
	read := 0
	if lexer != nil {
		read = lexer.Pieces(text, maxLexing, func() bool { return ctx.Err() != nil }, w.add)
	}
	w.add("", text[read:])
	w.close()
	return append(w.lines, w.line.String())
}

// lineWriter puts pieces into lines.
type lineWriter struct {
	lines []string
	line  strings.Builder
	open  string // the class of the element that is open; empty: none is
}

// add adds a piece to what was added before, and joins it to a neighbour of its class.
func (w *lineWriter) add(class, text string) {
	for {
		part, rest, more := strings.Cut(text, "\n")
		if part != "" {
			w.begin(class)
			w.line.WriteString(escaper.Replace(part))
		}
		if !more {
			return
		}
		w.close()
		w.lines = append(w.lines, w.line.String())
		w.line.Reset()
		text = rest
	}
}

func (w *lineWriter) begin(class string) {
	if class == w.open {
		return
	}
	w.close()
	if class != "" {
		w.line.WriteString(`<` + class + `->`)
	}
	w.open = class
}

func (w *lineWriter) close() {
	if w.open != "" {
		w.line.WriteString(`</` + w.open + `->`)
	}
	w.open = ""
}

// escaper returns HTML of text that stands between tags. Quotes are not markup there.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Coloured text is in elements without a meaning of their own, named by the class: <k->func</k-> (HTML lets
// authors name elements so). They are half as long as an i with a class, and a page has thousands.
var colourTag = regexp.MustCompile(`</?[a-z]->`)

// Tags is how many bytes of a line are tags.
func Tags(line string) (n int) {
	return len("<k-></k->") * strings.Count(line, "</")
}

// Escapes is how many bytes of a line escapes take besides what they stand for.
func Escapes(line string) (n int) {
	return len("lt;") * strings.Count(line, "&")
}

// Plain is a line without colours.
func Plain(line string) string { return colourTag.ReplaceAllString(line, "") }

// Mark writes a coloured line with its bytes from one place to another, counted in the text that the line
// shows, in a mark element. Colours that reach across an end of the mark are closed and opened again.
func Mark(b *strings.Builder, line string, from, to int) {
	at, open := 0, "" // bytes of text that are written, and the class of the element around
	boundary := func() {
		for _, edge := range [...]struct {
			at  int
			tag string
		}{{from, "<mark>"}, {to, "</mark>"}} {
			if at != edge.at || from == to {
				continue
			}
			if open != "" {
				b.WriteString("</" + open + ">")
			}
			b.WriteString(edge.tag)
			if open != "" {
				b.WriteString("<" + open + ">")
			}
		}
	}
	boundary()
	for line != "" {
		size := 1
		switch line[0] {
		case '<':
			end := strings.IndexByte(line, '>') + 1
			open = ""
			if line[1] != '/' {
				open = line[1 : end-1]
			}
			b.WriteString(line[:end])
			line = line[end:]
			continue
		case '&':
			size = strings.IndexByte(line, ';') + 1
		}
		b.WriteString(line[:size])
		line = line[size:]
		at++
		boundary()
	}
}
