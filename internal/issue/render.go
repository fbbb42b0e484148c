package issue

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// page is a page of issues and everything that their payloads show. It is loaded with a fixed number of
// queries.
type page struct {
	info   *web.Info
	issues []*Issue
	full   bool // the form of a single issue
	// include reactions
	reactions bool
	repos     map[repo.ID]*repo.Access
	places    map[repo.ID]*issuekit.Addresses

	people     map[account.ID]*account.Account
	labels     map[int64]*label.Label
	milestones map[int64]*milestone.Milestone
	roles      map[roleKey]string // author associations other than NONE
	rollups    map[ID]reaction.Rollup
	bodies     *text.Page
	bodyAt     map[ID]int // indexes of issues in bodies

	simples map[account.ID]*account.Simple // simple forms, created on demand

	// Values that many issues share, rendered once.
	users      map[account.ID][]byte
	labelJSON  map[int64][]byte
	milestone  map[int64][]byte
	repository map[repo.ID][]byte // nil: issues do not include their repository
}

type roleKey struct {
	repo repo.ID
	user account.ID
}

// newPage returns an empty page of one or more repositories.
func newPage(ctx context.Context, accesses ...*repo.Access) *page {
	info := web.From(ctx)
	p := &page{
		info: info, reactions: info.Media.Preview(web.Reactions),
		repos: map[repo.ID]*repo.Access{}, places: map[repo.ID]*issuekit.Addresses{},
		roles: map[roleKey]string{}, simples: map[account.ID]*account.Simple{},
		users:     map[account.ID][]byte{},
		labelJSON: map[int64][]byte{}, milestone: map[int64][]byte{},
	}
	for _, a := range accesses {
		p.repos[a.ID] = a
		p.places[a.ID] = issuekit.NewAddresses(p.info, a.Repo)
	}
	return p
}

// user returns the JSON of an account's simple form, or null.
func (p *page) user(id account.ID) []byte {
	return renderOnce(p.users, id, func() any { return p.simple(id) })
}

// label returns the JSON of a label, or nil if it was deleted.
func (p *page) label(at *issuekit.Addresses, id int64) []byte {
	if p.labels[id] == nil {
		return nil
	}
	return renderOnce(p.labelJSON, id, func() any { return label.NewPayload(p.labels[id], at) })
}

// milestoneOf returns the JSON of a milestone, or null.
func (p *page) milestoneOf(at *issuekit.Addresses, id int64) []byte {
	return renderOnce(p.milestone, id, func() any { return p.milestonePayload(at, id) })
}

// repositoryOf returns the JSON of an issue's repository, for lists of several repositories.
func (p *page) repositoryOf(id repo.ID) []byte {
	return renderOnce(p.repository, id, func() any { return repo.NewPayload(p.repos[id], p.info) })
}

// renderOnce renders a value that many issues share on its first use.
func renderOnce[ID ~int64](rendered map[ID][]byte, id ID, value func() any) []byte {
	part := rendered[id]
	if part == nil {
		part = mustMarshal(value())
		rendered[id] = part
	}
	return part
}

// mustMarshal renders one of our structs, which cannot fail.
func mustMarshal(v any) []byte {
	b, err := web.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// write renders the page as an array.
func (p *page) write(out *web.Output) error {
	return out.Array(len(p.issues), func(n int) (err error) {
		out.Buf, err = p.appendIssue(out.Buf, p.issues[n])
		return err
	})
}

// appendIssue renders an issue in GitHub's v3 format (decision 28). It does not use encoding/json, which
// takes some thirty times as long for the hundreds of values of a list (BenchmarkRenderIssues). It returns
// an error if the body cannot be rendered.
func (p *page) appendIssue(b []byte, i *Issue) (_ []byte, err error) {
	r := row{page: p, at: p.places[i.RepoID], Issue: i}
	if p.bodies != nil {
		if r.body, err = p.bodies.At(p.bodyAt[i.ID]); err != nil {
			return b, err
		}
	}
	before := byte('{')
	for n := range members {
		m := &members[n]
		if m.when != nil && !m.when(&r) {
			continue
		}
		b = append(b, before)
		b = append(b, m.key...)
		b = m.value(b, &r)
		before = ','
	}
	return append(b, '}'), nil
}
