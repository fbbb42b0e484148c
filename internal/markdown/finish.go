package markdown

import (
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxSlug bounds the id of a heading, in bytes.
const maxSlug = 120

// finisher completes the parsed tree: headings get ids, task lists their
// classes, code what its colours may cost, and footnotes the key of their ids. Quotes become alerts, and
// reference links that repeat long addresses too often become text.
type finisher struct{}

// Transform implements parser.ASTTransformer.
func (f *finisher) Transform(doc *ast.Document, r text.Reader, _ parser.Context) {
	slugs := slugs{}
	expanded := 0
	var excess []ast.Node
	quotes := map[*ast.Blockquote]string{} // that are alerts, with their titles
	key := sync.OnceValue(func() []byte { return noteKey(r.Source()) })
	shared := newColours(r.Source())
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if id := slugs.of(n, r.Source()); id != "" {
				n.SetAttributeString("id", []byte(id))
			}
		case *extast.TaskCheckBox:
			markTask(n)
		case *ast.FencedCodeBlock:
			n.SetAttributeString("colours", shared)
		case *extast.FootnoteLink, *extast.FootnoteBacklink, *extast.Footnote:
			n.SetAttributeString("key", key())
		case *ast.Blockquote:
			if title := titleOf(n, r.Source()); title != "" {
				quotes[n] = title
			}
		case *ast.Link:
			if expanded += len(n.Destination) + len(n.Title); expanded > maxExpansion {
				excess = append(excess, n)
			}
		case *ast.Image:
			if expanded += len(n.Destination) + len(n.Title); expanded > maxExpansion {
				excess = append(excess, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range excess {
		unwrap(n)
	}
	for quote, title := range quotes {
		replaceByAlert(quote, title)
	}
}

// unwrap puts a node's children in its place.
func unwrap(n ast.Node) {
	parent := n.Parent()
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		parent.InsertBefore(parent, n, c)
	}
	parent.RemoveChild(parent, n)
}

// markTask sets GitHub's class names on the item and the list around a checkbox.
func markTask(box ast.Node) {
	item := box.Parent().Parent() // the box stands in the item's first text block
	if item == nil || item.Kind() != ast.KindListItem {
		return
	}
	item.SetAttributeString("class", []byte("task-list-item"))
	item.Parent().SetAttributeString("class", []byte("contains-task-list"))
}

// slugs returns unique ids of a document's headings.
type slugs map[string]int

// of returns the words of a heading, lower case and joined by hyphens, with a
// number behind them when another heading has the same.
func (s slugs) of(n ast.Node, source []byte) string {
	var words strings.Builder
	appendWords(&words, n, source)
	id := slug(words.String())
	if id == "" {
		return ""
	}
	count, seen := s[id]
	if !seen {
		s[id] = 0
		return id
	}
	for {
		count++
		numbered := id + "-" + strconv.Itoa(count)
		if _, taken := s[numbered]; !taken {
			s[id], s[numbered] = count, 0
			return numbered
		}
	}
}

func slug(words string) string {
	var id strings.Builder
	for _, r := range strings.TrimSpace(words) {
		switch {
		case id.Len() >= maxSlug:
			return id.String()
		case r == ' ':
			id.WriteByte('-')
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			id.WriteRune(unicode.ToLower(r))
		}
	}
	return id.String()
}

func appendWords(b *strings.Builder, n ast.Node, source []byte) {
	for c := n.FirstChild(); c != nil && b.Len() < 4*maxSlug; c = c.NextSibling() {
		switch t := c.(type) {
		case *ast.Text:
			b.Write(util.UnescapePunctuations(t.Segment.Value(source)))
		case *ast.String:
			b.Write(t.Value)
		case *ast.AutoLink:
			b.Write(t.Label(source))
		case *emojiNode:
			b.WriteString(t.name)
		case *mathNode:
			b.Write(t.source)
		default:
			appendWords(b, c, source)
		}
	}
}
