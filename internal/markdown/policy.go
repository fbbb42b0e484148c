package markdown

import (
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// allowed are the elements that may stand in a body; GitHub allows the same and
// a few more that Arbor has no use for. Package html's names, lower case.
var allowed = [...]string{
	"a", "abbr", "b", "bdo", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details",
	"dfn", "div", "dl",
	"dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input",
	"ins", "kbd",
	"li", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "section", "small", "span", "strike",
	"strong", "sub",
	"summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "tt", "ul", "var", "wbr",
}

// swallowed are elements whose content bluemonday would drop with them; here
// only the tags go.
var swallowed = [...]string{"frame", "frameset", "iframe", "noembed", "noframes", "noscript",
	"nostyle", "object"}

// policy is made on first use, once; it is safe for concurrent use.
var policy = sync.OnceValue(newPolicy)

// sanitize keeps what the policy allows. The result may be out of balance.
func sanitize(unsafe string) string { return policy().Sanitize(unsafe) }

// attachment is the address of an attachment on this server: /OWNER/REPO/attachments/KEY.
const attachment = `^/[\w-]+/[\w.-]*[\w-][\w.-]*/attachments/[a-z2-7]{26}$`

var attachmentAddress = regexp.MustCompile(attachment)

// IsAttachment reports whether an address without a host is that of an attachment.
func IsAttachment(address string) bool { return attachmentAddress.MatchString(address) }

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(allowed[:]...)
	p.AllowNoAttrs().OnElements(allowed[:]...)
	p.AllowElementsContent(swallowed[:]...)

	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(true)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	web := regexp.MustCompile(`(?i)^\s*https?://`)
	p.AllowAttrs("href").OnElements("a")
	// A relative address is of an image relative to the file, for readers that know where that is. It has no
	// scheme, and neither host nor root. Of this server's own addresses only attachments are pictures: others
	// a browser would request with the reader's rights.
	beside := `^(\.{1,2}/)*\.?[\w%@+~-][\w%@+~./-]*(\?[\w=&.-]*)?$`
	p.AllowAttrs("src").Matching(regexp.MustCompile(web.String() + "|" + beside + "|" +
		attachment)).OnElements("img")
	p.AllowAttrs("cite").Matching(web).OnElements("blockquote", "del", "ins", "q")

	number := regexp.MustCompile(`^[0-9]{1,4}$`)
	length := regexp.MustCompile(`^[0-9]{1,4}(px|%)?$`)
	flag := regexp.MustCompile(`(?i)^(|open|reversed|checked|disabled)$`)
	p.AllowAttrs("width", "height").Matching(length).OnElements("img", "table", "td", "th")
	p.AllowAttrs("colspan", "rowspan").Matching(number).OnElements("td", "th")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`(?i)^(row|col|rowgroup|colgroup)$`)).OnElements("th")
	p.AllowAttrs("start", "value").Matching(regexp.MustCompile(`^-?[0-9]{1,9}$`)).OnElements("ol", "li")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^[1aAiI]$`)).OnElements("ol")
	p.AllowAttrs("open", "reversed").Matching(flag).OnElements("details", "ol")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`(?i)^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked").Matching(flag).OnElements("input")

	words := regexp.MustCompile(`^[^\x00-\x1f]{0,500}$`)
	p.AllowAttrs("alt").Matching(words).OnElements("img")
	p.AllowAttrs("title").Matching(words).Globally()
	p.AllowAttrs("align").Matching(regexp.MustCompile(`(?i)^(left|right|center|justify)$`)).Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`(?i)^(ltr|rtl|auto)$`)).Globally()
	p.AllowAttrs("lang").Matching(regexp.MustCompile(`^[A-Za-z0-9-]{1,35}$`)).Globally()
	p.AllowAttrs("datetime").Matching(regexp.MustCompile(`^[0-9A-Za-z:.+ -]{1,40}$`)).OnElements("time",
		"del", "ins")
	name := regexp.MustCompile(`^[\p{L}\p{N}\p{M}._:-]{1,200}$`) // gets its prefix in balance.go
	p.AllowAttrs("id").Matching(name).Globally()
	p.AllowAttrs("name").Matching(name).OnElements("a")

	p.AllowAttrs("class").Matching(regexp.MustCompile(
		`^language-[A-Za-z0-9+#._-]{1,40}( math-(inline|display))?$`)).OnElements("code")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^task-list-item$`)).OnElements("li")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^contains-task-list$`)).OnElements("ul", "ol")
	p.AllowAttrs("class").Matching(regexp.MustCompile(
		`^markdown-alert markdown-alert-(note|tip|important|warning|caution)$`)).OnElements("div")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^markdown-alert-title$`)).OnElements("p")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^pl-[a-z0-9]{1,4}$`)).OnElements("span")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^footnotes$`)).OnElements("section")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^sr-only$`)).OnElements("h2")
	none := regexp.MustCompile(`^$`)
	p.AllowAttrs("data-footnotes").Matching(none).OnElements("section")
	p.AllowAttrs("data-footnote-ref", "data-footnote-backref").Matching(none).OnElements("a")
	p.AllowAttrs("aria-label").Matching(regexp.MustCompile(`^Back to reference [0-9-]{1,9}$`)).OnElements("a")
	return p
}
