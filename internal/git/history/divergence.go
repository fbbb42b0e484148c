package history

import (
	"bytes"
	"context"
	"fmt"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/object"
	"arbor/internal/git/process"
)

// Divergence is how far a commit and a base have diverged.
type Divergence struct {
	Ahead  int // commits that the base lacks
	Behind int // commits of the base that it lacks
}

// MaxDivergent is how many commits Divergences compares with one base.
const MaxDivergent = 63

// Divergences counts, in one git process, how far each of the tips has diverged from a base. It looks at the
// newest commits of all their histories together, as many as most: a tip that diverged earlier is missing from
// the result. Tips beyond the first MaxDivergent are left out.
func Divergences(
	ctx context.Context, r *git.Repository, base git.SHA, tips []git.SHA, most int,
) (map[git.SHA]Divergence, error) {
	tips = tips[:min(len(tips), MaxDivergent)]
	// Which of the histories a commit is in: a bit for each tip, and the last one for the base. No parent is
	// listed before its child, so a commit's bits are whole when it comes.
	in := map[git.SHA]uint64{base: 1 << MaxDivergent}
	for n, tip := range tips {
		in[tip] |= 1 << n
	}
	counts := make([]Divergence, len(tips))
	c := process.Command{Sub: "rev-list", Flags: []string{"--topo-order", "--parents",
		fmt.Sprintf("--max-count=%d", most)},
		Revs: append([]git.SHA{base}, tips...)}
	err := r.Lines(ctx, c, func(line []byte) error {
		names := bytes.Fields(line)
		if len(names) == 0 || !object.IsSHA(string(names[0])) {
			return fmt.Errorf("git rev-list: unexpected line %q", errs.Clip(string(line)))
		}
		sha := git.SHA(names[0])
		bits := in[sha]
		delete(in, sha)
		for _, parent := range names[1:] {
			in[git.SHA(parent)] |= bits
		}
		for n := range counts {
			switch ofTip, ofBase := bits>>n&1 == 1, bits>>MaxDivergent == 1; {
			case ofTip && !ofBase:
				counts[n].Ahead++
			case ofBase && !ofTip:
				counts[n].Behind++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	unknown := uint64(0) // tips with unlisted commits that only one of the two histories has
	for _, bits := range in {
		if bits>>MaxDivergent == 1 {
			unknown |= ^bits
		} else {
			unknown |= bits
		}
	}
	found := map[git.SHA]Divergence{}
	for n, tip := range tips {
		if unknown>>n&1 == 0 {
			found[tip] = counts[n]
		}
	}
	return found, nil
}
