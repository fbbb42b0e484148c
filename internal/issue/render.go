package issue

import (
	"context"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/issue/text"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// page is a page of issues and all that their payloads show, read with a fixed
// number of queries whatever the page holds.
type page struct {
	info   *web.Info
	issues []*Issue
	full   bool // the form of a single issue
	repos  map[repo.ID]*repo.Access
	places map[repo.ID]*tracker.Place

	people     map[account.ID]*account.Account
	labels     map[int64]*label.Label
	milestones map[int64]*milestone.Milestone
	roles      map[roleKey]string // author associations that are not NONE
	rollups    map[ID]reaction.Rollup
	bodies     *text.Page
	bodyAt     map[ID]int // places of issues in bodies

	simples map[account.ID]*account.Simple // those of people that were asked for

	// What is rendered once and stands in many issues.
	users      map[account.ID]*piece
	labelJSON  map[int64]*piece
	milestone  map[int64]*piece
	repository map[repo.ID]*piece // nil: issues do not show their repository

	tagged *tagged // of a list while it is written
	kept   *kept   // what other pages left in memory; nil: all is read
}

type roleKey struct {
	repo repo.ID
	user account.ID
}

// newPage makes an empty page of one or more repositories.
func newPage(ctx context.Context, accesses ...*repo.Access) *page {
	p := &page{
		info: web.From(ctx), repos: map[repo.ID]*repo.Access{}, places: map[repo.ID]*tracker.Place{},
		roles: map[roleKey]string{}, simples: map[account.ID]*account.Simple{}, users: map[account.ID]*piece{},
		labelJSON: map[int64]*piece{}, milestone: map[int64]*piece{},
	}
	for _, a := range accesses {
		p.repos[a.ID] = a
		p.places[a.ID] = tracker.NewPlace(p.info, a.Repo)
	}
	return p
}

// user renders the simple form of an account, or null.
func (p *page) user(id account.ID) *piece {
	return once(p.users, id, func() any { return p.simple(id) })
}

// label renders a label; nil where it was deleted since.
func (p *page) label(at *tracker.Place, id int64) *piece {
	if p.labelJSON[id] == nil && p.labels[id] == nil {
		return nil
	}
	return once(p.labelJSON, id, func() any { return label.NewPayload(p.labels[id], at) })
}

// milestoneOf renders the milestone of an issue, or null.
func (p *page) milestoneOf(at *tracker.Place, id int64) *piece {
	return once(p.milestone, id, func() any { return p.milestonePayload(at, id) })
}

// repositoryOf renders the repository of an issue as lists across repositories show it.
func (p *page) repositoryOf(id repo.ID) *piece {
	return once(p.repository, id, func() any { return repo.NewPayload(p.repos[id], p.info) })
}

// once renders a value that stands in many issues, when it is first asked for.
func once[ID ~int64](rendered map[ID]*piece, id ID, value func() any) *piece {
	part := rendered[id]
	if part == nil {
		part = newPiece(value())
		rendered[id] = part
	}
	return part
}

// mustMarshal renders our own structs, which cannot fail.
func mustMarshal(v any) []byte {
	b, err := web.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// appendIssue renders an issue as GitHub's v3 does (decision 28), by hand: a list shows
// hundreds of values, and encoding/json takes some thirty times as long (BenchmarkRenderIssues).
// Error: that of its body.
func (p *page) appendIssue(b []byte, i *Issue) ([]byte, error) {
	body, err := p.bodies.At(p.bodyAt[i.ID])
	if err != nil {
		return b, err
	}
	at := p.places[i.RepoID]
	b = p.appendAddresses(b, at, i)
	b = append(b, `,"id":`...)
	b = strconv.AppendInt(b, int64(i.ID), 10)
	b = append(b, `,"node_id":"`...)
	b = account.AppendNodeID(b, nodeKind(i), i.ID)
	b = append(b, `","number":`...)
	b = strconv.AppendInt(b, i.Number, 10)
	b = append(b, `,"title":`...)
	b = web.AppendString(b, i.Title)
	b = append(b, `,"user":`...)
	b = p.appendPiece(b, p.user(i.AuthorID))
	b = p.appendLabels(b, at, i)
	b = append(b, `,"state":"`...)
	b = append(b, i.State.String()...)
	b = append(b, `","locked":`...)
	b = strconv.AppendBool(b, i.Locked)
	b = p.appendAssignees(b, i)
	b = append(b, `,"milestone":`...)
	b = p.appendPiece(b, p.milestoneOf(at, i.MilestoneID))
	b = append(b, `,"comments":`...)
	b = strconv.AppendInt(b, i.Comments, 10)
	b = append(b, `,"created_at":`...)
	b = i.CreatedAt.AppendJSON(b)
	b = append(b, `,"updated_at":`...)
	b = i.UpdatedAt.AppendJSON(b)
	b = append(b, `,"closed_at":`...)
	b = i.ClosedAt.AppendJSON(b)
	b = append(b, `,"author_association":"`...)
	b = append(b, p.association(i)...)
	b = append(b, `","active_lock_reason":`...)
	b = appendOptional(b, i.LockReason)
	if i.Pull {
		b = appendPull(b, at, i)
	}
	b = appendBody(b, body)
	if p.full {
		b = append(b, `,"closed_by":`...)
		b = p.appendPiece(b, p.user(i.ClosedBy))
	}
	if p.info.Media.Preview(web.Reactions) {
		b = append(b, `,"reactions":`...)
		b = p.rollups[i.ID].AppendJSON(b, at.API+"/issues/"+itoa(i.Number)+"/reactions")
	}
	b = append(b, `,"timeline_url":"`...)
	b = append(b, at.API...)
	b = append(b, `/issues/`...)
	b = strconv.AppendInt(b, i.Number, 10)
	b = append(b, `/timeline","performed_via_github_app":null,"state_reason":`...)
	b = appendOptional(b, i.StateReason.orNil())
	if p.repository != nil {
		b = append(b, `,"repository":`...)
		b = p.appendPiece(b, p.repositoryOf(i.RepoID))
	}
	return append(b, '}'), nil
}

func nodeKind(i *Issue) string {
	if i.Pull {
		return "PullRequest"
	}
	return "Issue"
}

func (p *page) appendAddresses(b []byte, at *tracker.Place, i *Issue) []byte {
	var buf [20]byte
	number := strconv.AppendInt(buf[:0], i.Number, 10)
	api := func(name, end string) {
		b = append(b, name...)
		b = append(b, at.API...)
		b = append(b, `/issues/`...)
		b = append(b, number...)
		b = append(b, end...)
	}
	api(`{"url":"`, ``)
	b = append(b, `","repository_url":"`...)
	b = append(b, at.API...)
	api(`","labels_url":"`, `/labels{/name}`)
	api(`","comments_url":"`, `/comments`)
	api(`","events_url":"`, `/events`)
	b = append(b, `","html_url":"`...)
	b = append(b, at.Page...)
	b = append(b, tracker.PageSegment(i.Pull)...)
	b = append(b, number...)
	return append(b, '"')
}

func (p *page) appendLabels(b []byte, at *tracker.Place, i *Issue) []byte {
	b = append(b, `,"labels":[`...)
	first := true
	for _, id := range i.Labels {
		part := p.label(at, id)
		if part == nil {
			continue // deleted since
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = p.appendPiece(b, part)
	}
	return append(b, ']')
}

func (p *page) appendAssignees(b []byte, i *Issue) []byte {
	b = append(b, `,"assignee":`...)
	if len(i.Assignees) == 0 {
		b = append(b, "null"...)
	} else {
		b = p.appendPiece(b, p.user(i.Assignees[0]))
	}
	if !p.info.Media.Preview(web.Assignees) {
		return b
	}
	b = append(b, `,"assignees":[`...)
	for n, id := range i.Assignees {
		if n > 0 {
			b = append(b, ',')
		}
		b = p.appendPiece(b, p.user(id))
	}
	return append(b, ']')
}

// appendPull renders what issues show of the pull request that they are
// (decision 26).
func appendPull(b []byte, at *tracker.Place, i *Issue) []byte {
	n := itoa(i.Number)
	b = append(b, `,"draft":`...)
	b = strconv.AppendBool(b, i.Draft)
	b = append(b, `,"pull_request":{"url":"`+at.API+`/pulls/`+n+`","html_url":"`+at.Page+`/pull/`+n+
		`","diff_url":"`+at.Page+`/pull/`+n+`.diff","patch_url":"`+at.Page+`/pull/`+n+`.patch","merged_at":`...)
	b = i.MergedAt.AppendJSON(b)
	return append(b, '}')
}

// appendBody renders the members that the body has.
func appendBody(b []byte, body text.Payload) []byte {
	for _, m := range [...]struct {
		name string
		text **string
	}{{`,"body":`, body.Raw}, {`,"body_text":`, body.Text}, {`,"body_html":`, body.HTML}} {
		if m.text != nil {
			b = appendOptional(append(b, m.name...), *m.text)
		}
	}
	return b
}

func appendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return web.AppendString(b, *s)
}
