package migration

import (
	"errors"
	"fmt"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
)

// events writes events of timelines.
func (b *batch) events(list []*row) error {
	of := func(r Record) int64 { return r.(*Event).Issue }
	on, err := b.findIssues(list, of, false)
	if err != nil {
		return err
	}
	var sources []int64
	var comments, reviews []string
	for _, r := range newRows(list) {
		e := r.Record.(*Event)
		if _, ok := issue.ParseEvent(e.Event); !ok {
			r.refusal = errors.New("this server has no event of this name")
			continue
		}
		sources = append(sources, e.Source)
		comments, reviews = append(comments, e.SourceComment), append(reviews, e.Review)
	}
	from, err := issuesNumbered(b.tx, b.im.a.ID, db.Unique(sources))
	if err != nil {
		return err
	}
	texts, err := idsOf(b.tx, b.im.a.ID, Comments, comments)
	if err != nil {
		return err
	}
	reviewed, err := idsOf(b.tx, b.im.a.ID, Reviews, reviews)
	if err != nil {
		return err
	}
	for _, r := range newRows(list) {
		e := r.Record.(*Event)
		kind, _ := issue.ParseEvent(e.Event)
		switch {
		case kind == issue.EventCrossReferenced && from[e.Source] == nil:
			r.refusal = errors.New("the issue or comment with the reference is not in this repository")
		case (kind == issue.EventReviewed || kind == issue.EventReviewDismissed) && reviewed[e.Review] == 0:
			r.refusal = fmt.Errorf("the review %q is not there", e.Review)
		case e.Team != "":
			r.refusal = fmt.Errorf("the team %q is not brought", e.Team)
		case e.Commit != "" && sha("commit", e.Commit) != nil:
			r.refusal = sha("commit", e.Commit)
		}
	}
	if err := b.assignIDs("issue_events", newRows(list)); err != nil {
		return err
	}
	var rows []issue.Event
	for _, r := range newRows(list) {
		event, err := b.eventOf(r, on, from, texts, reviewed)
		if err != nil {
			return err
		}
		rows = append(rows, event)
	}
	return errors.Join(issue.InsertPastEvents(b.tx, rows), b.resetTextCounts(list))
}

func (b *batch) eventOf(r *row, on, from map[int64]*issue.Issue, texts, reviewed map[string]int64) (issue.Event, error) {
	e, who := r.Record.(*Event), b.im.people
	kind, _ := issue.ParseEvent(e.Event)
	i := on[e.Issue]
	out := issue.Event{ID: r.id, RepoID: b.im.a.ID, IssueID: i.ID, ActorID: who.id(e.Actor), Kind: kind,
		UserID: who.orNone(e.Person), Commit: e.Commit, CreatedAt: past(e.CreatedAt, b.tx.Now)}
	if s := from[e.Source]; s != nil {
		out.SourceID, out.CommentID = s.ID, texts[e.SourceComment]
	}
	d := &out.Detail
	d.Milestone, d.LockReason, d.StateReason, d.Reason = e.Milestone, e.LockReason, e.StateReason, e.Reason
	err := errors.Join(decode(e.Label, &d.Label), decode(e.Rename, &d.Rename))
	if err != nil {
		b.note("%s: %v", describe(e), err)
		d.Label, d.Rename = nil, nil
	}
	if id := reviewed[e.Review]; id != 0 {
		d.Review = &issue.Review{ID: id, Number: e.Issue, State: e.ReviewState, Commit: e.Commit, Message: e.Message}
		out.Commit = ""
	}
	return out, nil
}

// comments writes comments on issues and pull requests.
func (b *batch) comments(list []*row) error {
	on, err := b.findIssues(list, func(r Record) int64 { return r.(*Comment).Issue }, false)
	if err != nil {
		return err
	}
	added := newRows(list)
	if err := b.assignIDs("issue_comments", added); err != nil {
		return err
	}
	texts, index := map[issue.ID][]issue.Text{}, []fulltext.Changed{}
	bodies := map[*row]string{}
	for _, r := range append(added, changedRows(list)...) {
		c := r.Record.(*Comment)
		bodies[r] = b.im.texts.rewrite(c.Body)
		i := on[c.Issue].ID
		texts[i] = append(texts[i], issue.NewText(bodies[r]))
		index = append(index, fulltext.Changed{Issue: int64(i), Comment: r.id})
	}
	mentioned, err := b.mentioned(texts)
	if err != nil {
		return err
	}
	if err := b.writeComments(added, changedRows(list), on, bodies); err != nil {
		return err
	}
	var issues []issue.ID
	for id := range texts {
		issues = append(issues, id)
	}
	slices.Sort(issues)
	if err := issue.RecountComments(b.tx, issues); err != nil {
		return err
	}
	if len(added) > 0 {
		err := posting.Count(b.tx, b.im.a.ID, []posting.Property{posting.OfComments.Of(0)}, 0, int64(len(added)))
		if err != nil {
			return err
		}
	}
	authors := map[issue.ID][]string{}
	for r := range bodies {
		c := r.Record.(*Comment)
		authors[on[c.Issue].ID] = append(authors[on[c.Issue].ID], c.Author)
	}
	if err := b.addInvolved(issues, authors, mentioned); err != nil {
		return err
	}
	return errors.Join(b.indexTexts(index), b.resetTextCounts(list))
}

// addInvolved adds the involved properties of issues that exist here already.
func (b *batch) addInvolved(
	issues []issue.ID, authors map[issue.ID][]string, mentioned map[issue.ID][]account.ID,
) error {
	now, err := issue.ByIDs(b.tx, issues)
	if err != nil {
		return err
	}
	var posted []posting.Posted
	for _, i := range now {
		row := posting.Row{IssueID: int64(i.ID), RepoID: i.RepoID, State: issuekit.State(i.State), UpdatedAt: i.UpdatedAt,
			Comments: i.Comments}
		posted = append(posted, posting.Posted{Row: row, Properties: b.involvedProperties(authors[i.ID], mentioned[i.ID])})
	}
	return posting.AddMissing(b.tx, posted)
}
