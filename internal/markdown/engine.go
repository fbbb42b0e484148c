package markdown

import (
	"bytes"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds on what goldmark repeats or searches again and again. Text that people
// write stays far below them.
const (
	maxDelimiters = 500       // runs of * _ ~ in one paragraph that may be emphasis
	maxNesting    = 50        // block quotes and lists inside each other
	maxCells      = 50_000    // columns x rows of one table, empty cells included
	maxExpansion  = 128 << 10 // bytes of addresses and titles of reference links, repeats included
)

// engine is goldmark with its bounds; it is safe for concurrent use.
type engine struct {
	parser   parser.Parser
	renderer renderer.Renderer
}

// goldmark is made on first use, once.
var goldmark = sync.OnceValue(newEngine)

func newEngine() *engine {
	count := parser.NewContextKey()
	inlines := append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
		util.Prioritized(extension.NewLinkifyParser(), 999),
	)
	for i := range inlines {
		if inlines[i].Priority == 500 { // emphasis and strikethrough: they share one list of delimiters
			inlines[i].Value = &fewDelimiters{inlines[i].Value.(parser.InlineParser), count}
		}
	}
	blocks := parser.DefaultBlockParsers()
	for i := range blocks {
		b := blocks[i].Value.(parser.BlockParser)
		if b == parser.NewBlockquoteParser() || b == parser.NewListParser() {
			blocks[i].Value = &shallow{b}
		}
	}
	cells := extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)
	return &engine{
		parser: parser.NewParser(
			parser.WithBlockParsers(blocks...),
			parser.WithInlineParsers(inlines...),
			parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(),
				util.Prioritized(&smallTable{extension.NewTableParagraphTransformer()}, 200))...),
			parser.WithASTTransformers(
				util.Prioritized(extension.NewTableASTTransformer(), 0),
				util.Prioritized(&finisher{}, 900)),
		),
		renderer: renderer.NewRenderer(renderer.WithNodeRenderers(
			util.Prioritized(&rawRenderer{}, 100),
			util.Prioritized(extension.NewTableHTMLRenderer(cells), 500),
			util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
			util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 500),
			util.Prioritized(gmhtml.NewRenderer(gmhtml.WithHardWraps()), 1000),
		)),
	}
}

// render gives HTML that is not yet safe: raw HTML passes through. A defect of
// goldmark costs the body its formatting, not the reader the page.
func render(source string) (out string) {
	defer func() {
		if recover() != nil {
			out = "<pre>" + html.EscapeString(source) + "</pre>"
		}
	}()
	src := []byte(source)
	doc := goldmark().parser.Parse(text.NewReader(src))
	var b strings.Builder
	b.Grow(len(source) + len(source)/2)
	if err := goldmark().renderer.Render(&b, src, doc); err != nil {
		panic(err) // a strings.Builder refuses nothing
	}
	return b.String()
}

// fewDelimiters lets a paragraph have maxDelimiters; matching each closer looks
// back at all openers before it.
type fewDelimiters struct {
	parser.InlineParser
	count parser.ContextKey
}

type delimiters struct {
	block ast.Node
	n     int
}

// Parse passes on to the parser as long as there are few.
func (f *fewDelimiters) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	d := pc.ComputeIfAbsent(f.count, func() any { return &delimiters{} }).(*delimiters)
	if d.block != parent {
		*d = delimiters{block: parent}
	}
	if d.n >= maxDelimiters {
		return nil
	}
	n := f.InlineParser.Parse(parent, block, pc)
	if n != nil {
		d.n++
	}
	return n
}

// shallow opens no block below maxNesting others.
type shallow struct{ parser.BlockParser }

// Open passes on to the parser unless the parent is deep already.
func (s *shallow) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil && depth <= 2*maxNesting; n = n.Parent() {
		depth++
	}
	if depth > 2*maxNesting { // a list counts twice: itself and its item
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, r, pc)
}

// smallTable leaves a paragraph alone that would be a table of more than
// maxCells: each row is filled up to the columns of the first.
type smallTable struct{ parser.ParagraphTransformer }

// Transform passes on to the transformer unless the table would be huge.
func (t *smallTable) Transform(n *ast.Paragraph, r text.Reader, pc parser.Context) {
	columns := 0
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		columns = max(columns, 1+bytes.Count(line.Value(r.Source()), []byte{'|'}))
	}
	if columns*n.Lines().Len() <= maxCells {
		t.ParagraphTransformer.Transform(n, r, pc)
	}
}

// rawRenderer writes raw HTML as it stands, but for the tags whose content would
// not be read as HTML: those become text, as at GitHub, so that nothing after
// them is swallowed.
type rawRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (r *rawRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindRawHTML, func(w util.BufWriter, src []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		if in {
			writeRaw(w, n.(*ast.RawHTML).Segments.Value(src))
		}
		return ast.WalkSkipChildren, nil
	})
	reg.Register(ast.KindHTMLBlock, func(w util.BufWriter, src []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		if in {
			writeRaw(w, n.Lines().Value(src))
		} else if b := n.(*ast.HTMLBlock); b.HasClosure() {
			writeRaw(w, b.ClosureLine.Value(src))
		}
		return ast.WalkContinue, nil
	})
}

func writeRaw(w util.BufWriter, raw []byte) {
	for {
		i := bytes.IndexByte(raw, '<')
		if i < 0 {
			break
		}
		_, _ = w.Write(raw[:i])
		if opaque(tagName(raw[i+1:])) {
			_, _ = w.WriteString("&lt;")
		} else {
			_ = w.WriteByte('<')
		}
		raw = raw[i+1:]
	}
	_, _ = w.Write(raw)
}

// tagName returns the folded name of the tag whose inside begins with b, or "".
func tagName(b []byte) string {
	b = bytes.TrimPrefix(b, []byte{'/'})
	const longest = len("plaintext")
	for i := range min(len(b), longest+1) {
		switch b[i] {
		case ' ', '\t', '\n', '\f', '/', '>':
			return strings.ToLower(string(b[:i]))
		}
	}
	return ""
}

// opaque reports whether an HTML parser would not parse the element's content.
func opaque(tag string) bool {
	switch tag {
	case "iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "title", "xmp":
		return true
	}
	return false
}
