package mail

import (
	"fmt"
	netmail "net/mail"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// Message is what a mail says.
type Message struct {
	To      string // an address
	From    string // the name of who causes it; empty: that of the settings
	Subject string
	Text    string
	HTML    string // empty: none

	ID         string   // the part of the Message-ID before "@"
	References []string // such parts of messages before it

	ToList      bool   // the header To names the list, and Cc the reader, as readers of lists expect
	List        string // names what it is sent about, such as a repository; empty: to one person
	Reason      string // why it is sent; empty: no notification
	ReplyTo     string // the address for replies; empty: that of the sender
	Unsubscribe string // the address that ends such mails by a POST; empty: none
	Page        string // where it is seen in the browser; empty: none
}

// Bounds of a message. Longer texts are cut.
const (
	maxSubject = 200       // characters
	maxName    = 100       // characters
	maxBody    = 256 << 10 // bytes, of each form
)

// Line makes a header's value of a text: one line, without control characters, of at most so many characters.
func Line(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(c rune) bool {
		return unicode.IsControl(c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c) || unicode.Is(unicode.Cf, c)
	}), " ")
	s = strings.ReplaceAll(s, "=?", "= ?") // nothing decodes it into something else
	if cut := []rune(s); len(cut) > most {
		s = string(cut[:most-1]) + "…"
	}
	return strings.TrimSpace(s)
}

// body bounds a text, and ends lines as mail does not mind.
func body(s string) string {
	if len(s) > maxBody {
		s = strings.ToValidUTF8(s[:maxBody], "") + "\n…\n"
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// build makes the message of the library, whose headers nothing in a name or a title can leave.
func (m *Message) build(c *Config) (*gomail.Msg, error) {
	to, err := netmail.ParseAddress("<" + m.To + ">")
	if err != nil || strings.ContainsFunc(to.Address, unicode.IsControl) {
		return nil, fmt.Errorf("mail: %q cannot be a recipient: %w", m.To, err)
	}
	built := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	from := c.From
	if m.From != "" {
		from.Name = Line(m.From, maxName)
	}
	built.FromMailAddress(&from)
	if m.ToList { // nobody gets it by To: the envelope has the reader alone
		built.AddBccMailAddress(&netmail.Address{Address: to.Address})
		list := netmail.Address{Name: Line(m.List, maxName), Address: c.From.Address}
		built.SetGenHeaderPreformatted("To", list.String())
		built.SetGenHeaderPreformatted("Cc", (&netmail.Address{Address: to.Address}).String())
	} else {
		built.ToMailAddress(&netmail.Address{Address: to.Address})
	}
	built.Subject(Line(m.Subject, maxSubject))
	built.SetDateWithValue(time.Now())
	id := func(part string) string { return part + "@" + c.Site() }
	built.SetMessageIDWithValue(id(m.ID))
	built.SetGenHeader("Auto-Submitted", "auto-generated")
	if n := len(m.References); n > 0 {
		all := make([]string, n)
		for i, r := range m.References {
			all[i] = "<" + id(r) + ">"
		}
		built.SetGenHeaderPreformatted(gomail.HeaderInReplyTo, all[n-1])
		built.SetGenHeaderPreformatted("References", strings.Join(all, " "))
	}
	if m.List != "" {
		built.SetGenHeaderPreformatted("List-Id", "<"+listID(m.List)+"."+c.Site()+">")
		built.SetGenHeaderPreformatted("Precedence", "list")
	}
	if m.Reason != "" {
		built.SetGenHeader("X-Arbor-Reason", Line(m.Reason, maxName))
		built.SetGenHeader("X-GitHub-Reason", Line(m.Reason, maxName)) // people's filters know that
	}
	if m.ReplyTo != "" {
		built.SetGenHeaderPreformatted("Reply-To", (&netmail.Address{Address: m.ReplyTo}).String())
	}
	if m.Unsubscribe != "" {
		built.SetGenHeaderPreformatted("List-Unsubscribe", "<"+m.Unsubscribe+">")
		built.SetGenHeaderPreformatted("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	if m.Page != "" {
		built.SetGenHeaderPreformatted("List-Archive", "<"+m.Page+">")
	}
	built.SetBodyString(gomail.TypeTextPlain, body(m.Text))
	if m.HTML != "" {
		built.AddAlternativeString(gomail.TypeTextHTML, body(m.HTML))
	}
	return built, nil
}

// listID makes a List-Id of a name like OWNER/NAME: NAME.OWNER.
func listID(name string) string {
	owner, repo, _ := strings.Cut(Line(name, 2*maxName), "/")
	clean := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '-'
	}, repo+"."+owner)
	return strings.Trim(clean, ".")
}
