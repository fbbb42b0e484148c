package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds on what goldmark repeats, or searches again and again. Text that people
// write stays far below them.
const (
	maxDelimiters  = 500       // runs of * _ ~ in one paragraph that may be emphasis
	maxBrackets    = 200       // [ in one paragraph without a ] so far
	maxSearches    = 4 << 20   // bytes looked through for targets of links; a line counts as eight
	maxNesting     = 50        // block quotes and lists inside each other
	maxCells       = 50_000    // columns x rows of one table, empty cells included
	maxEscapes     = 1000      // of | in tables; each cell that has one is compared with all
	maxDefinitions = 4000      // lines of one paragraph that may define links
	maxExpansion   = 128 << 10 // bytes of addresses and titles of links, repeats included
)

// bound puts the bounds around those of goldmark's parsers that need them.
func bound(blocks, inlines, paragraphs []util.PrioritizedValue) {
	key := parser.NewContextKey()
	for i := range paragraphs {
		switch p := paragraphs[i].Value.(parser.ParagraphTransformer); p {
		case extension.NewTableParagraphTransformer():
			paragraphs[i].Value = &smallTable{p, key}
		case parser.LinkReferenceParagraphTransformer:
			paragraphs[i].Value = &fewDefinitions{p}
		}
	}
	for i := range inlines {
		switch p := inlines[i].Value.(parser.InlineParser); p {
		case parser.NewEmphasisParser(), extension.NewStrikethroughParser():
			inlines[i].Value = &fewDelimiters{p, key}
		case parser.NewCodeSpanParser():
			inlines[i].Value = &codeSpans{p, key}
		case parser.NewLinkParser():
			inlines[i].Value = &fewSearches{p, p.(parser.CloseBlocker), key}
		case extension.NewFootnoteParser():
			inlines[i].Value = &fewNoteRefs{p, parser.NewContextKey()}
		}
	}
	for i := range blocks {
		switch p := blocks[i].Value.(parser.BlockParser); p {
		case parser.NewBlockquoteParser(), parser.NewListParser():
			blocks[i].Value = &shallow{p}
		case extension.NewFootnoteBlockParser():
			blocks[i].Value = &shallow{&fewNotes{p, parser.NewContextKey()}}
		}
	}
}

// spent is what the text cost so far.
type spent struct {
	block      ast.Node     // that is being parsed; what follows counts in it
	delimiters int          // runs
	brackets   int          // open ones
	unclosed   map[int]bool // lengths of runs of backticks that nothing closes
	searched   int          // bytes, in all blocks
	escapes    int          // of | in tables, in all blocks
}

func spentOn(key parser.ContextKey, block ast.Node, pc parser.Context) *spent {
	s := pc.ComputeIfAbsent(key, func() any { return &spent{} }).(*spent)
	if s.block != block {
		*s = spent{block: block, searched: s.searched, escapes: s.escapes}
	}
	return s
}

// fewDelimiters limits a paragraph to maxDelimiters: matching each closer looks
// back at all openers before it.
type fewDelimiters struct {
	parser.InlineParser
	key parser.ContextKey
}

// Parse passes on to the parser as long as there are few.
func (f *fewDelimiters) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	s := spentOn(f.key, parent, pc)
	if s.delimiters >= maxDelimiters {
		return nil
	}
	n := f.InlineParser.Parse(parent, block, pc)
	if n != nil {
		s.delimiters++
	}
	return n
}

// codeSpans remembers which runs of backticks have no second one: each search
// for it goes to the end of the paragraph.
type codeSpans struct {
	parser.InlineParser
	key parser.ContextKey
}

// Parse passes on to the parser unless its search must fail.
func (c *codeSpans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	s := spentOn(c.key, parent, pc)
	line, segment := block.PeekLine()
	run := len(line) - len(bytes.TrimLeft(line, "`"))
	if s.unclosed[run] {
		block.Advance(run)
		return ast.NewTextSegment(segment.WithStop(segment.Start + run))
	}
	n := c.InlineParser.Parse(parent, block, pc)
	if n != nil && n.Kind() == ast.KindText {
		if s.unclosed == nil {
			s.unclosed = map[int]bool{}
		}
		s.unclosed[run] = true
	}
	return n
}

// fewSearches bounds what waits for a closing bracket, and what is searched behind and
// before each one: goldmark counts the lines of the paragraph up to it.
type fewSearches struct {
	parser.InlineParser
	parser.CloseBlocker
	key parser.ContextKey
}

// Parse passes on to the parser unless the paragraph has used up a bound.
func (l *fewSearches) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	s := spentOn(l.key, parent, pc)
	line, _ := block.PeekLine()
	before, _ := block.Position()
	if s.searched > maxSearches || line[0] != ']' && s.brackets >= maxBrackets {
		return nil
	}
	n := l.InlineParser.Parse(parent, block, pc)
	switch {
	case line[0] != ']':
		if n != nil {
			s.brackets++
		}
	default:
		s.brackets = max(0, s.brackets-1)
		s.searched += 8 * before
		if n == nil && len(line) > 1 && (line[1] == '(' || line[1] == '[') {
			s.searched += len(line)
		}
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
// maxCells, for each row is filled up to the columns of the first; or one with
// which the document had more than maxEscapes.
type smallTable struct {
	parser.ParagraphTransformer
	key parser.ContextKey
}

// Transform passes on to the transformer unless the table would be huge.
func (t *smallTable) Transform(n *ast.Paragraph, r text.Reader, pc parser.Context) {
	columns, escapes := 0, 0
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		value := line.Value(r.Source())
		columns = max(columns, 1+bytes.Count(value, []byte{'|'}))
		escapes += bytes.Count(value, []byte(`\|`))
	}
	s := pc.ComputeIfAbsent(t.key, func() any { return &spent{} }).(*spent)
	s.escapes += escapes
	if columns*n.Lines().Len() <= maxCells && (escapes == 0 || s.escapes <= maxEscapes) {
		t.ParagraphTransformer.Transform(n, r, pc)
	}
}

// fewDefinitions leaves a paragraph alone that would be more than maxDefinitions
// of links: each one moves all lines after it.
type fewDefinitions struct{ parser.ParagraphTransformer }

// Transform passes on to the transformer unless there are many lines.
func (f *fewDefinitions) Transform(n *ast.Paragraph, r text.Reader, pc parser.Context) {
	if n.Lines().Len() <= maxDefinitions {
		f.ParagraphTransformer.Transform(n, r, pc)
	}
}
