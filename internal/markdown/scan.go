package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLogin = 39 // decision 8
	maxRepo  = 100
	minSHA   = 7
	maxSHA   = 40
	digits   = 10 // of an issue's number
)

// kind says what a reference names.
type kind uint8

const (
	mention kind = iota
	issue
	commit
	kinds
)

// span is a place in a document's HTML that may become a link.
type span struct {
	start, end int
	kind       kind
	index      int // into References' list of that kind
}

// finds collects the references of a document, each once.
type finds struct {
	refs    References
	spans   []span
	logins  map[string]int
	teams   map[TeamRef]int
	issues  map[IssueRef]int
	commits map[CommitRef]int
	closes  map[IssueRef]int
}

// scanner finds references in one piece of text between two tags. GitHub's
// rules: a reference begins and ends where no word goes on. Letters of scripts
// without case end a word, because such scripts have no spaces either.
type scanner struct {
	text string
	pos  int
	*finds
	keywordEnd int // behind the last "fixes" or the like; 0 when another word follows it
	found      func(start, end int, k kind, index int)
}

// run calls found for each reference that is within the bounds, in order.
func (s *scanner) run(found func(start, end int, k kind, index int)) {
	s.found = found
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '@':
			s.mention()
		case c == '#':
			s.issue(s.pos, "", "")
		case isName(c):
			s.word()
		default:
			s.pos++
		}
	}
}

// mention reads @login, or @organization/team.
func (s *scanner) mention() {
	start := s.pos
	s.pos++
	run := s.name(s.pos)
	login := strings.TrimRight(run, "._-")
	end := s.pos + len(run)
	if login == run && end < len(s.text) && s.text[end] == '/' && !s.joined(start, "/@+") {
		s.team(login)
		return
	}
	if login == "" || len(login) > maxLogin || !isAlnum(login[0]) && login[0] != '_' ||
		s.joined(start, "/@+") || s.continues(s.pos+len(run), "/@") {
		s.pos += len(run)
		return
	}
	s.keywordEnd = 0
	s.pos += len(login)
	record(s, &s.logins, &s.refs.Logins, fold(login), mention, start)
}

// team reads /team behind an organization's login.
func (s *scanner) team(org string) {
	s.pos += len(org) + 1
	run := s.name(s.pos)
	slug := strings.TrimRight(run, "._-")
	if slug != "" && org != "" && len(org) <= maxLogin && !s.continues(s.pos+len(run), "/@") {
		unique(&s.teams, &s.refs.Teams, TeamRef{fold(org), fold(slug)})
	}
	s.keywordEnd = 0
	s.pos += len(run)
}

// issue reads #7 at the position, behind the owner and repository that begin at
// start if any.
func (s *scanner) issue(start int, owner, repo string) {
	s.pos++
	from := s.pos
	for s.pos < len(s.text) && isDigit(s.text[s.pos]) {
		s.pos++
	}
	if number := s.text[from:s.pos]; !s.joined(start, "/#&=.-@") && !s.continues(s.pos, "") {
		s.number(start, owner, repo, number)
	}
}

// number records an issue, and that it is closed when a keyword is before it.
func (s *scanner) number(start int, owner, repo, number string) {
	if number == "" || len(number) > digits || number[0] == '0' {
		return
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return
	}
	ref := IssueRef{fold(owner), fold(repo), n}
	record(s, &s.issues, &s.refs.Issues, ref, issue, start)
	if s.keywordEnd > 0 {
		between := s.text[s.keywordEnd:start]
		if between != "" && strings.TrimSpace(strings.TrimPrefix(between, ":")) == "" {
			unique(&s.closes, &s.refs.Closes, ref)
		}
	}
	s.keywordEnd = 0
}

// word reads a run of letters, digits and -._ with what may follow it: a SHA,
// GH-7, a keyword, or the owner in front of a repository.
func (s *scanner) word() {
	start := s.pos
	run := s.name(start)
	s.pos += len(run)
	end := s.pos
	if s.joined(start, "/@#-.=&?%+") {
		return
	}
	if end < len(s.text) && s.text[end] == '/' {
		s.crossed(start, run)
		return
	}
	if s.continues(end, "/@#:\\") && !isKeyword(run) {
		return
	}
	bare := strings.TrimRight(run, ".")
	switch {
	case isKeyword(run):
		s.keywordEnd = end
		return
	case isSHA(bare):
		s.pos = start + len(bare)
		record(s, &s.commits, &s.refs.Commits, CommitRef{SHA: bare}, commit, start)
	case len(bare) > 3 && strings.EqualFold(bare[:3], "gh-") && allDigits(bare[3:]):
		s.pos = start + len(bare)
		s.number(start, "", "", bare[3:])
	}
	s.keywordEnd = 0
}

// crossed reads owner/repo#7 and owner/repo@sha, standing at the slash.
func (s *scanner) crossed(start int, owner string) {
	repo := s.name(s.pos + 1)
	s.pos += 1 + len(repo)
	if repo == "" || len(repo) > maxRepo || len(owner) > maxLogin || s.pos >= len(s.text) {
		return
	}
	switch s.text[s.pos] {
	case '#':
		s.issue(start, owner, repo)
	case '@':
		run := s.name(s.pos + 1)
		sha := strings.TrimRight(run, ".")
		if s.continues(s.pos+1+len(run), "/@#:") || !isSHA(sha) {
			s.pos += 1 + len(run)
			return
		}
		s.pos += 1 + len(sha)
		record(s, &s.commits, &s.refs.Commits, CommitRef{fold(owner), fold(repo), sha}, commit, start)
	}
	s.keywordEnd = 0
}

// name returns the run of letters, digits and -._ at i.
func (s *scanner) name(i int) string {
	end := i
	for end < len(s.text) && isName(s.text[end]) {
		end++
	}
	return s.text[i:end]
}

// joined reports whether a word, or one of the characters, ends right before i.
func (s *scanner) joined(i int, chars string) bool {
	r, size := utf8.DecodeLastRuneInString(s.text[:i])
	return size > 0 && (isWord(r) || strings.ContainsRune(chars, r))
}

// continues reports whether a word, or one of the characters, begins right at i.
func (s *scanner) continues(i int, chars string) bool {
	r, size := utf8.DecodeRuneInString(s.text[i:])
	if r == ':' { // ends a clause, unless something follows at once: host:port, scheme://
		next, n := utf8.DecodeRuneInString(s.text[i+size:])
		return n > 0 && !unicode.IsSpace(next) && strings.ContainsRune(chars, r)
	}
	return size > 0 && (isWord(r) || strings.ContainsRune(chars, r))
}

// record notes the reference from start to the position, within the bounds.
func record[T comparable](s *scanner, index *map[T]int, list *[]T, ref T, k kind, start int) {
	if i, ok := unique(index, list, ref); ok && len(s.spans) < MaxLinks {
		s.found(start, s.pos, k, i)
	}
}

// unique returns the entry's index in the list, appending it when it is new; ok
// is false when the list is full.
func unique[T comparable](index *map[T]int, list *[]T, ref T) (i int, ok bool) {
	if i, ok = (*index)[ref]; ok {
		return i, true
	}
	if len(*list) >= MaxReferences {
		return 0, false
	}
	if *index == nil {
		*index = map[T]int{}
	}
	(*index)[ref] = len(*list)
	*list = append(*list, ref)
	return len(*list) - 1, true
}

// isKeyword reports whether the word closes the issue that follows it.
func isKeyword(word string) bool {
	if len(word) < len("fix") || len(word) > len("resolved") {
		return false
	}
	switch fold(word) {
	case "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved":
		return true
	}
	return false
}

func isSHA(s string) bool {
	if len(s) < minSHA || len(s) > maxSHA {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && (c < 'a' || 'f' < c) {
			return false
		}
	}
	return true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// isWord reports whether the rune is part of a word that a reference may not
// touch.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlnum(byte(r)) || r == '_'
	}
	return unicode.IsUpper(r) || unicode.IsLower(r)
}

func isName(c byte) bool  { return isAlnum(c) || c == '-' || c == '.' || c == '_' }
func isAlnum(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// fold maps names that differ only in ASCII case to the same text (decisions 8, 51).
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}
