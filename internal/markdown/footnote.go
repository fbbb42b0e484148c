package markdown

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds on footnotes: each reference is looked for among all notes.
const (
	maxNotes    = 200  // of a document
	maxNoteRefs = 1000 // places of a document that may be a reference
)

// fewNotes opens at most maxNotes footnotes.
type fewNotes struct {
	parser.BlockParser
	key parser.ContextKey
}

// Open passes on to the parser unless there are many notes.
func (f *fewNotes) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	count := pc.ComputeIfAbsent(f.key, func() any { return new(int) }).(*int)
	if *count >= maxNotes {
		return nil, parser.NoChildren
	}
	n, state := f.BlockParser.Open(parent, r, pc)
	if n != nil {
		*count++
	}
	return n, state
}

// fewNoteRefs looks for the notes of at most maxNoteRefs references, also of those that lead to none.
type fewNoteRefs struct {
	parser.InlineParser
	key parser.ContextKey
}

// Parse passes on to the parser unless there are many references.
func (f *fewNoteRefs) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	count := pc.ComputeIfAbsent(f.key, func() any { return new(int) }).(*int)
	line, _ := block.PeekLine()
	if at := len(line) - len(trimMark(line)); len(line) <= at+1 || line[at+1] != '^' || *count >= maxNoteRefs {
		return nil
	}
	*count++
	return f.InlineParser.Parse(parent, block, pc)
}

// trimMark cuts the mark of an image off a line.
func trimMark(line []byte) []byte {
	if line[0] == '!' {
		return line[1:]
	}
	return line
}

// noteKey names a text in the ids of its footnotes: a page shows several texts.
func noteKey(source []byte) []byte {
	sum := sha256.Sum256(source)
	return []byte(hex.EncodeToString(sum[:6]))
}

// noteRenderer writes footnotes as GitHub does. The nodes have the attribute key, see noteKey.
type noteRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (noteRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(extast.KindFootnoteLink, noteLink)
	reg.Register(extast.KindFootnoteBacklink, noteBacklink)
	reg.Register(extast.KindFootnote, func(w util.BufWriter, _ []byte, n ast.Node,
		in bool) (ast.WalkStatus, error) {
		if in {
			_, _ = w.WriteString(`<li id="` + noteID(n, n.(*extast.Footnote).Index) + "\">\n")
		} else {
			_, _ = w.WriteString("</li>\n")
		}
		return ast.WalkContinue, nil
	})
	reg.Register(extast.KindFootnoteList, func(w util.BufWriter, _ []byte, _ ast.Node,
		in bool) (ast.WalkStatus, error) {
		if in {
			_, _ = w.WriteString("<section class=\"footnotes\" data-footnotes=\"\"><h2 class=\"sr-only\">Footnotes</h2>\n<ol>\n")
		} else {
			_, _ = w.WriteString("</ol>\n</section>\n")
		}
		return ast.WalkContinue, nil
	})
}

// noteID is the id of a note.
func noteID(n ast.Node, index int) string {
	key, _ := n.AttributeString("key")
	name, _ := key.([]byte)
	return "fn-" + strconv.Itoa(index) + "-" + string(name)
}

// refID is the id of a reference, the first (0) or a further one to the same note.
func refID(n ast.Node, index, ref int) string {
	id := "fnref-" + noteID(n, index)[len("fn-"):]
	if ref > 0 {
		id += "-" + strconv.Itoa(ref+1)
	}
	return id
}

func noteLink(w util.BufWriter, _ []byte, node ast.Node, in bool) (ast.WalkStatus, error) {
	if n := node.(*extast.FootnoteLink); in {
		_, _ = w.WriteString(`<sup><a href="#` + noteID(n, n.Index) + `" id="` + refID(n, n.Index, n.RefIndex) +
			`" data-footnote-ref="">` + strconv.Itoa(n.Index) + `</a></sup>`)
	}
	return ast.WalkContinue, nil
}

func noteBacklink(w util.BufWriter, _ []byte, node ast.Node, in bool) (ast.WalkStatus, error) {
	if n := node.(*extast.FootnoteBacklink); in {
		of, again := strconv.Itoa(n.Index), ""
		if n.RefIndex > 0 {
			of += "-" + strconv.Itoa(n.RefIndex+1)
			again = "<sup>" + strconv.Itoa(n.RefIndex+1) + "</sup>"
		}
		_, _ = w.WriteString(` <a href="#` + refID(n, n.Index, n.RefIndex) +
			`" data-footnote-backref="" aria-label="Back to reference ` + of + `">↩` + again + `</a>`)
	}
	return ast.WalkContinue, nil
}
