package migration

import (
	"errors"
	"fmt"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// insertPulls inserts the rows of new pull requests and the refs of their heads.
func (b *batch) insertPulls(list []*row, all map[*row]*issue.Issue) error {
	var pulls []*pull.Pull
	heads := map[int64]git.SHA{}
	var asked []request
	mayRead, err := b.readers(list)
	if err != nil {
		return err
	}
	for _, r := range list {
		p := b.pullRow(r, all[r])
		pulls = append(pulls, p)
		heads[p.Number] = p.HeadSHA
		asked = append(asked, b.reviewRequests(r, mayRead)...)
	}
	if err := pull.InsertPast(b.tx, pulls); err != nil {
		return err
	}
	if err := repo.SetPullHeads(b.tx, b.im.a.ID, b.im.a.Purges, heads); err != nil {
		return err
	}
	return insertRequests(b.tx, asked)
}

// request is a review that is requested.
type request struct {
	issue int64
	user  account.ID
}

// readers returns which of the requested reviewers may see the repository.
func (b *batch) readers(list []*row) (map[account.ID]bool, error) {
	var ids []account.ID
	for _, r := range list {
		p := r.Record.(*Issue).Pull
		if p == nil {
			continue
		}
		for _, login := range p.Reviewers {
			if b.im.people.matched(login) {
				ids = append(ids, b.im.people.id(login))
			}
		}
	}
	may := map[account.ID]bool{}
	err := db.InParts(db.Unique(ids), func(part []account.ID) error {
		people, err := repo.PeopleByID(b.tx, b.im.a.Repo, part)
		for id, p := range people {
			may[id] = p.Role >= account.Pull
		}
		return err
	})
	return may, err
}

// reviewRequests returns the requested reviewers who have an account here and may see the repository.
func (b *batch) reviewRequests(r *row, mayRead map[account.ID]bool) (list []request) {
	for _, login := range r.Record.(*Issue).Pull.Reviewers {
		if !b.im.people.matched(login) {
			continue
		}
		ask := request{r.id, b.im.people.id(login)}
		switch {
		case !mayRead[ask.user]:
			b.note("%s: the review request for %s was left out: %[2]s may not see the repository here",
				describe(r.Record), login)
		case !slices.Contains(list, ask):
			list = append(list, ask)
		}
	}
	return list
}

func (b *batch) pullRow(r *row, i *issue.Issue) *pull.Pull {
	rec := r.Record.(*Issue).Pull
	head := b.headOf(r)
	p := &pull.Pull{IssueID: i.ID, RepoID: b.im.a.ID, Number: i.Number, Open: i.State == issue.Open, BaseRef: rec.Base,
		BaseSHA: git.SHA(rec.BaseSHA), HeadOwnerID: head.Owner, HeadRef: head.Name, HeadSHA: git.SHA(rec.HeadSHA),
		Additions: rec.Additions, Deletions: rec.Deletions, Files: rec.Files, Commits: rec.Commits}
	if head.Owner == b.im.a.OwnerID && (b.im.own(rec) || b.branches[r] != "") {
		p.HeadRepoID = b.im.a.ID
	}
	if name, made := b.branches[r]; made {
		b.note("pull request %d: its head %s:%s is in a repository that is not here; it became the branch %s", i.Number,
			rec.HeadOwner, rec.Head, name)
	}
	if !i.MergedAt.IsZero() {
		p.MergedBy = b.im.people.orNone(rec.MergedBy)
		if p.MergeSHA = git.SHA(rec.MergeSHA); sha("", rec.MergeSHA) != nil {
			p.MergeSHA = p.HeadSHA
		}
	}
	return p
}

func (b *batch) updatePull(r *row, i *issue.Issue, mayRead map[account.ID]bool) error {
	p := b.pullRow(r, i)
	if b.asIssue[r] != "" {
		return nil
	}
	if err := pull.UpdatePast(b.tx, p); err != nil {
		return err
	}
	if err := repo.SetPullHeads(b.tx, b.im.a.ID, b.im.a.Purges, map[int64]git.SHA{p.Number: p.HeadSHA}); err != nil {
		return err
	}
	return replaceRequests(b.tx, r.id, b.reviewRequests(r, mayRead))
}

// reviews writes reviews.
func (b *batch) reviews(list []*row) error {
	on, err := b.findIssues(list, func(r Record) int64 { return r.(*Review).Pull }, true)
	if err != nil {
		return err
	}
	added := newRows(list)
	if err := b.assignIDs("reviews", added); err != nil {
		return err
	}
	texts, authors := map[issue.ID][]issue.Text{}, map[issue.ID][]string{}
	bodies := map[*row]string{}
	for _, r := range append(added, changedRows(list)...) {
		rec := r.Record.(*Review)
		bodies[r] = b.im.texts.rewrite(rec.Body)
		i := on[rec.Pull].ID
		texts[i], authors[i] = append(texts[i], issue.NewText(bodies[r])), append(authors[i], rec.Author)
	}
	if err := b.writeReviews(added, changedRows(list), on, bodies); err != nil {
		return err
	}
	return errors.Join(b.subscribeParticipants(texts, authors), b.resetTextCounts(list))
}

// subscribeParticipants subscribes those who wrote texts, and those whom they mention.
func (b *batch) subscribeParticipants(texts map[issue.ID][]issue.Text, authors map[issue.ID][]string) error {
	mentioned, err := b.mentioned(texts)
	if err != nil {
		return err
	}
	var issues []issue.ID
	for id := range texts {
		issues = append(issues, id)
	}
	slices.Sort(issues)
	return b.addInvolved(issues, authors, mentioned)
}

// reviewComments writes comments on lines.
func (b *batch) reviewComments(list []*row) error {
	on, err := b.findIssues(list, func(r Record) int64 { return r.(*ReviewComment).Pull }, true)
	if err != nil {
		return err
	}
	var reviews, roots []string
	for _, r := range list {
		c := r.Record.(*ReviewComment)
		reviews, roots = append(reviews, c.Review), append(roots, c.ReplyTo)
	}
	of, err := idsOf(b.tx, b.im.a.ID, Reviews, reviews)
	if err != nil {
		return err
	}
	to, err := idsOf(b.tx, b.im.a.ID, ReviewComments, roots)
	if err != nil {
		return err
	}
	here := map[string]bool{}
	for _, r := range newRows(list) {
		c := r.Record.(*ReviewComment)
		switch {
		case of[c.Review] == 0:
			r.refusal = fmt.Errorf("its review %q is not there", c.Review)
		case c.ReplyTo != "" && to[c.ReplyTo] == 0 && !here[c.ReplyTo]:
			r.refusal = fmt.Errorf("the comment %q that it answers is not there", c.ReplyTo)
		default:
			here[c.ID] = true
		}
	}
	added := newRows(list)
	if err := b.assignIDs("review_comments", added); err != nil {
		return err
	}
	for _, r := range added {
		to[r.Record.(*ReviewComment).ID] = r.id
	}
	texts, authors := map[issue.ID][]issue.Text{}, map[issue.ID][]string{}
	bodies := map[*row]string{}
	for _, r := range append(added, changedRows(list)...) {
		c := r.Record.(*ReviewComment)
		bodies[r] = b.im.texts.rewrite(c.Body)
		i := on[c.Pull].ID
		texts[i], authors[i] = append(texts[i], issue.NewText(bodies[r])), append(authors[i], c.Author)
	}
	if err := b.writeReviewComments(added, changedRows(list), lines{on, of, to, bodies}); err != nil {
		return err
	}
	return errors.Join(b.subscribeParticipants(texts, authors), b.resetTextCounts(list))
}

// lines is what comments on lines refer to.
type lines struct {
	on      map[int64]*issue.Issue
	reviews map[string]int64
	roots   map[string]int64
	bodies  map[*row]string
}

// commitComments writes comments on commits.
func (b *batch) commitComments(list []*row) error {
	if err := b.assignIDs("commit_comments", newRows(list)); err != nil {
		return err
	}
	return errors.Join(b.writeCommitComments(newRows(list), changedRows(list)), b.resetTextCounts(list))
}

// threads writes which conversations are resolved.
func (b *batch) threads(list []*row) error {
	on, err := b.findIssues(list, func(r Record) int64 { return r.(*Thread).Pull }, true)
	if err != nil {
		return err
	}
	roots, err := idsOf(b.tx, b.im.a.ID, ReviewComments, keysOf(list))
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.id = roots[r.key]; r.id == 0 && r.refusal == nil {
			r.refusal = errors.New("its first comment is not there")
		}
	}
	return b.writeThreads(append(newRows(list), changedRows(list)...), on)
}

// reactions writes reactions. It refuses those of deleted accounts, which would all belong to the account ghost: an
// account has each reaction to a subject at most once.
func (b *batch) reactions(list []*row) error {
	subjects, err := b.subjects(list)
	if err != nil {
		return err
	}
	var rows []*row
	for _, r := range newRows(list) {
		rec := r.Record.(*Reaction)
		r.id = subjects[rec.Kind][rec.To]
		switch {
		case rec.Person == "":
			r.id, r.refusal = 0, errors.New("the account that reacted is gone")
		case r.id == 0:
			r.refusal = errors.New("the issue, comment or release that it belongs to was not imported")
		default:
			rows = append(rows, r)
		}
	}
	return b.writeReactions(rows)
}

// subjects finds what reactions are to.
func (b *batch) subjects(list []*row) (map[Kind]map[string]int64, error) {
	keys := map[Kind][]string{}
	for _, r := range list {
		rec := r.Record.(*Reaction)
		keys[rec.Kind] = append(keys[rec.Kind], rec.To)
	}
	found := map[Kind]map[string]int64{}
	for _, k := range subjects[1:] {
		ids, err := idsOf(b.tx, b.im.a.ID, k, keys[k])
		if err != nil {
			return nil, err
		}
		found[k] = ids
	}
	return found, nil
}
