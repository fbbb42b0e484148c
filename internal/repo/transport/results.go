package transport

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"arbor/internal/git/wire"
	"arbor/internal/repo"
)

// refuse notes why a command is not done; the first reason counts.
func (p *push) refuse(i int, reason string) {
	if p.results[i].Error == "" {
		p.results[i].Error = reason
	}
}

// settled reports that nothing is left to do: all refused or, in an atomic
// push, one.
func (p *push) settled() bool {
	refused := 0
	for _, r := range p.results {
		if r.Error != "" {
			refused++
		}
	}
	if refused > 0 && refused < len(p.results) && p.request.Capabilities.Atomic {
		for i := range p.results {
			p.refuse(i, "atomic push failed")
		}
		return true
	}
	return refused == len(p.results)
}

// wanted are the commands that are not refused.
func (p *push) wanted() []wire.Command {
	var list []wire.Command
	for i, c := range p.request.Commands {
		if p.results[i].Error == "" {
			list = append(list, c)
		}
	}
	return list
}

// refuseRest refuses every command that is not refused yet.
func (p *push) refuseRest(reason string) {
	for i := range p.results {
		p.refuse(i, reason)
	}
}

// open lists the updates that are not refused, with their places.
func (p *push) open(all []repo.RefUpdate) (index []int, updates []repo.RefUpdate) {
	for i, u := range all {
		if p.results[i].Error == "" {
			index = append(index, i)
			updates = append(updates, u)
		}
	}
	return index, updates
}

func (p *push) refuseAll(index []int, refused []error) {
	for k, err := range refused {
		if err != nil {
			p.refuse(index[k], reason(err))
		}
	}
}

// reason returns the one line that git shows for a ref.
func reason(err error) string {
	if rules, ok := errors.AsType[*repo.RuleError](err); ok {
		return "refused by rules: " + rules.Problems[0]
	}
	return repo.ErrText(err)
}

// maxExplained is how many refs of a push are explained on the screen of the person who pushes.
const maxExplained = 20

// explain writes which rules refused which refs, and what to do.
func (p *push) explain(refused []error) {
	if p.messages == nil {
		return
	}
	var text strings.Builder
	explained := 0
	for _, err := range refused {
		var rules *repo.RuleError
		if !errors.As(err, &rules) || explained == maxExplained {
			continue
		}
		explained++
		fmt.Fprintf(&text, "\nerror: Rules of %s refuse to update %s:\n", p.access.FullName(), rules.Ref)
		for _, problem := range rules.Problems {
			fmt.Fprintf(&text, "- %s\n", problem)
		}
	}
	if explained > 0 {
		text.WriteString("Push to another branch and open a pull request, or ask an administrator of the repository.\n\n")
		io.WriteString(p.messages, text.String())
	}
}
