package migration

import (
	"encoding/json"
	"slices"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// decode reads an optional JSON object of a record.
func decode[T any](text json.RawMessage, into **T) error {
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, into)
}

// insert runs an INSERT of many rows, which are given as their values, in parts.
func insert(tx *db.Tx, head string, rows [][]any, tail string) error {
	if len(rows) == 0 {
		return nil
	}
	return db.InParts(rows, func(part [][]any) error {
		return tx.Run(head+` VALUES `+db.Values(len(part), len(part[0]))+tail, slices.Concat(part...)...)
	})
}

// issuesNumbered finds issues of the repository.
func issuesNumbered(tx *db.Tx, id repo.ID, numbers []int64) (map[int64]*issue.Issue, error) {
	found := map[int64]*issue.Issue{}
	err := db.InParts(numbers, func(part []int64) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			i := &issue.Issue{RepoID: id}
			err := row.Scan(&i.ID, &i.Number, &i.Pull)
			found[i.Number] = i
			return err
		}, `SELECT id, number, pull FROM issues WHERE repo_id = $1 AND number IN `+db.ValuesFrom(2, 1, len(part)),
			db.Args(part, id)...)
	})
	return found, err
}

// namesOfIssues reads the labels and milestones of the repository.
func (b *batch) namesOfIssues() (n names, err error) {
	if n.labels, err = db.QueryMap[string, int64](b.tx, `SELECT name_folded, id FROM labels WHERE repo_id = $1`,
		b.im.a.ID); err != nil {
		return n, err
	}
	n.milestones, err = db.QueryMap[int64, int64](b.tx, `SELECT number, id FROM milestones WHERE repo_id = $1`, b.im.a.ID)
	return n, err
}

// countIssues adds to the counter of open issues, and keeps the next number behind the last.
func countIssues(tx *db.Tx, id repo.ID, open, last int64) error {
	return tx.Run(`UPDATE repos SET open_issues = open_issues + $2,
		next_number = CASE WHEN next_number <= $3 THEN $3 + 1 ELSE next_number END WHERE id = $1`, id, open, last)
}

// openPairs returns the open pull requests of a repository by their branches, those from the repository itself.
func openPairs(tx *db.Tx, id repo.ID) (map[pair]int64, error) {
	found := map[pair]int64{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var p pair
		var n int64
		err := row.Scan(&p.base, &p.head, &n)
		found[p] = n
		return err
	}, `SELECT base_ref, head_ref, number FROM pulls WHERE repo_id = $1 AND open AND head_repo_id = $1`, id)
	return found, err
}

func writeLabels(tx *db.Tx, id repo.ID, list []*row) error {
	var rows [][]any
	for _, r := range list {
		l := r.Record.(*Label)
		if r.earlierID != 0 {
			err := tx.Run(`UPDATE labels SET name = $2, color = $3, description = $4, is_default = $5 WHERE id = $1`, r.id,
				l.Name, l.Color, l.Description, l.Default)
			if err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []any{r.id, id, l.Name, label.Fold(l.Name), l.Color, l.Description, l.Default})
	}
	return insert(tx, `INSERT INTO labels (id, repo_id, name, name_folded, color, description, is_default)`, rows, ``)
}

func milestoneTitles(tx *db.Tx, id repo.ID) (map[string]int64, error) {
	return db.QueryMap[string, int64](tx, `SELECT title, number FROM milestones WHERE repo_id = $1`, id)
}

func (b *batch) writeMilestones(added, other []*row) error {
	var rows [][]any
	var last int64
	values := func(r *row) []any {
		m, now := r.Record.(*Milestone), b.tx.Now
		var due, closed db.Time
		if !m.DueOn.IsZero() {
			due = db.FromTime(m.DueOn)
		}
		state := issuekit.Open
		if m.State == "closed" {
			state, closed = issuekit.Closed, past(m.ClosedAt, now)
		}
		last = max(last, m.Number)
		return []any{r.id, b.im.a.ID, m.Number, m.Title, b.im.texts.optional(m.Description), int64(state),
			b.im.people.id(m.Creator), past(m.CreatedAt, now), past(m.UpdatedAt, now), due, closed}
	}
	for _, r := range added {
		rows = append(rows, values(r))
	}
	err := insert(b.tx, `INSERT INTO milestones (id, repo_id, number, title, description, state, creator_id, created_at,
		updated_at, due_on, closed_at)`, rows, ``)
	if err != nil {
		return err
	}
	for _, r := range other {
		v := values(r)
		if err := b.tx.Run(`UPDATE milestones SET title = $2, description = $3, state = $4, updated_at = $5, due_on = $6,
			closed_at = $7 WHERE id = $1`, v[0], v[3], v[4], v[5], v[8], v[9], v[10]); err != nil {
			return err
		}
	}
	return b.tx.Run(`UPDATE repos SET next_milestone = CASE WHEN next_milestone <= $2 THEN $2 + 1 ELSE next_milestone END
		WHERE id = $1`, b.im.a.ID, last)
}

func insertRequests(tx *db.Tx, list []request) error {
	var rows [][]any
	for _, r := range list {
		rows = append(rows, []any{r.issue, r.user, tx.Now})
	}
	return insert(tx, `INSERT INTO requested_reviewers (issue_id, user_id, created_at)`, rows, ` ON CONFLICT DO NOTHING`)
}

func replaceRequests(tx *db.Tx, issueID int64, list []request) error {
	if err := tx.Run(`DELETE FROM requested_reviewers WHERE issue_id = $1`, issueID); err != nil {
		return err
	}
	return insertRequests(tx, list)
}

// hiddenOf is why a comment is hidden, as it is stored.
func hiddenOf(word string) any {
	h, _ := issuekit.ParseHidden(word)
	return db.OrNull(int64(h))
}

func (b *batch) writeComments(added, other []*row, on map[int64]*issue.Issue, bodies map[*row]string) error {
	var rows [][]any
	for _, r := range added {
		c := r.Record.(*Comment)
		rows = append(rows, []any{r.id, b.im.a.ID, on[c.Issue].ID, b.im.people.id(c.Author), bodies[r],
			past(c.CreatedAt, b.tx.Now), past(c.UpdatedAt, b.tx.Now), b.optionalTime(c.PinnedAt),
			db.OrNull(b.im.people.orNone(c.PinnedBy)), hiddenOf(c.Hidden), c.ByMail})
	}
	err := insert(b.tx, `INSERT INTO issue_comments (id, repo_id, issue_id, author_id, body, created_at, updated_at,
		pinned_at, pinned_by, hidden, by_mail)`, rows, ``)
	for _, r := range other {
		if err != nil {
			return err
		}
		c := r.Record.(*Comment)
		err = b.tx.Run(`UPDATE issue_comments SET body = $2, updated_at = $3, hidden = $4 WHERE id = $1`, r.id, bodies[r],
			past(c.UpdatedAt, b.tx.Now), hiddenOf(c.Hidden))
	}
	return err
}

// stateOf is the state of a review as it is stored.
var stateOf = map[string]review.State{"commented": review.Commented, "approved": review.Approved,
	"changes_requested": review.ChangesRequested, "dismissed": review.Dismissed}

func (b *batch) writeReviews(added, other []*row, on map[int64]*issue.Issue, bodies map[*row]string) error {
	var rows [][]any
	for _, r := range added {
		v := r.Record.(*Review)
		rows = append(rows, []any{r.id, b.im.a.ID, on[v.Pull].ID, b.im.people.id(v.Author), int64(stateOf[v.State]),
			bodies[r], v.Commit, past(v.SubmittedAt, b.tx.Now), hiddenOf(v.Hidden)})
	}
	err := insert(b.tx, `INSERT INTO reviews (id, repo_id, issue_id, author_id, state, body, commit_sha, submitted_at,
		hidden)`, rows, ``)
	for _, r := range other {
		if err != nil {
			return err
		}
		v := r.Record.(*Review)
		err = b.tx.Run(`UPDATE reviews SET state = $2, body = $3, hidden = $4 WHERE id = $1`, r.id,
			int64(stateOf[v.State]), bodies[r], hiddenOf(v.Hidden))
	}
	return err
}

// sideOf is a side as it is stored.
func sideOf(name string) int64 { return int64(max(0, slices.Index(sides[:], name))) }

func (b *batch) writeReviewComments(added, other []*row, l lines) error {
	var rows [][]any
	var pulls []issue.ID
	for _, r := range added {
		c := r.Record.(*ReviewComment)
		on := l.on[c.Pull].ID
		pulls = append(pulls, on)
		rows = append(rows, []any{r.id, b.im.a.ID, on, l.reviews[c.Review], b.im.people.id(c.Author), false,
			db.OrNull(l.roots[c.ReplyTo]), l.bodies[r], c.Path, c.File, sideOf(c.Side), db.OrNull(sideOf(c.StartSide)),
			c.DiffHunk, c.Original.Commit, c.Original.Position, db.OrNull(c.Original.Line), db.OrNull(c.Original.Start),
			c.Current.Commit, db.OrNull(c.Current.Position), db.OrNull(c.Current.Line), db.OrNull(c.Current.Start),
			past(c.CreatedAt, b.tx.Now), past(c.UpdatedAt, b.tx.Now), hiddenOf(c.Hidden)})
	}
	err := insert(b.tx, `INSERT INTO review_comments (id, repo_id, issue_id, review_id, author_id, pending, reply_to, body,
		path, whole, side, start_side, diff_hunk, original_sha, original_position, original_line, original_start,
		current_sha, current_position, current_line, current_start, created_at, updated_at, hidden)`, rows, ``)
	for _, r := range other {
		if err != nil {
			return err
		}
		c := r.Record.(*ReviewComment)
		err = b.tx.Run(`UPDATE review_comments SET body = $2, updated_at = $3, hidden = $4 WHERE id = $1`, r.id,
			l.bodies[r], past(c.UpdatedAt, b.tx.Now), hiddenOf(c.Hidden))
	}
	if err != nil {
		return err
	}
	return db.InParts(db.Unique(pulls), func(part []issue.ID) error {
		return b.tx.Run(`UPDATE pulls SET review_comments = (SELECT COUNT(*) FROM review_comments c
			WHERE c.issue_id = pulls.issue_id AND c.pending = FALSE) WHERE issue_id IN `+db.Values(1, len(part)),
			db.Args(part)...)
	})
}

func (b *batch) writeCommitComments(added, other []*row) error {
	var rows [][]any
	for _, r := range added {
		c := r.Record.(*CommitComment)
		rows = append(rows, []any{r.id, b.im.a.ID, b.im.people.id(c.Author), c.Commit, c.Path, db.OrNull(c.Position),
			db.OrNull(c.Line), b.im.texts.rewrite(c.Body), past(c.CreatedAt, b.tx.Now), past(c.UpdatedAt, b.tx.Now),
			hiddenOf(c.Hidden)})
	}
	err := insert(b.tx, `INSERT INTO commit_comments (id, repo_id, author_id, commit_sha, path, position, line, body,
		created_at, updated_at, hidden)`, rows, ``)
	for _, r := range other {
		if err != nil {
			return err
		}
		c := r.Record.(*CommitComment)
		err = b.tx.Run(`UPDATE commit_comments SET body = $2, updated_at = $3, hidden = $4 WHERE id = $1`, r.id,
			b.im.texts.rewrite(c.Body), past(c.UpdatedAt, b.tx.Now), hiddenOf(c.Hidden))
	}
	return err
}

func (b *batch) writeThreads(list []*row, on map[int64]*issue.Issue) error {
	var rows [][]any
	for _, r := range list {
		t := r.Record.(*Thread)
		rows = append(rows, []any{r.id, on[t.Pull].ID, b.im.people.id(t.ResolvedBy), past(t.ResolvedAt, b.tx.Now)})
	}
	return insert(b.tx, `INSERT INTO resolved_threads (root_id, issue_id, resolved_by, resolved_at)`, rows,
		` ON CONFLICT DO NOTHING`)
}

// reacted are the statements that note which subjects have reactions, by kind.
var reacted = map[Kind]string{
	Issues:         `UPDATE issues SET reacted = TRUE WHERE id IN `,
	Comments:       `UPDATE issue_comments SET reacted = TRUE WHERE id IN `,
	ReviewComments: `UPDATE review_comments SET reacted = TRUE WHERE id IN `,
}

func (b *batch) writeReactions(list []*row) error {
	var rows [][]any
	ids := map[Kind][]int64{}
	for _, r := range list {
		rec := r.Record.(*Reaction)
		content, _ := reaction.ParseContent(rec.Content)
		rows = append(rows, []any{b.im.a.ID, int64(slices.Index(subjects[:], rec.Kind)), r.id, b.im.people.id(rec.Person),
			int64(content), past(rec.CreatedAt, b.tx.Now)})
		ids[rec.Kind] = append(ids[rec.Kind], r.id)
	}
	err := insert(b.tx, `INSERT INTO reactions (repo_id, subject_kind, subject_id, user_id, content, created_at)`, rows,
		` ON CONFLICT DO NOTHING`)
	for k, statement := range reacted {
		if some := db.Unique(ids[k]); len(some) > 0 && err == nil {
			err = b.tx.Run(statement+db.Values(1, len(some)), db.Args(some)...)
		}
	}
	return err
}
