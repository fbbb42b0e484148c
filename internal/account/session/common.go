package session

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"

	"arbor/internal/errs"
)

// Passwords that attackers try first are refused where one is set; a password set before keeps working. The
// list is small: other passwords are protected by the bound of attempts.

//go:embed common.txt
var commonText string

//go:embed commonwords.txt
var commonWordsText string

// commonPasswords and commonWords are lists that are parsed on first use.
var (
	commonPasswords = sync.OnceValue(func() map[string]bool { return setOf(commonText) })
	commonWords     = sync.OnceValue(func() map[string]bool { return setOf(commonWordsText) })
)

func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			set[line] = true
		}
	}
	return set
}

// product is a word that attackers of this server try.
const product = "arbor"

// checkCommon refuses a password that is tried first: one of the list, the login, a word with little around
// it, a repetition, or a row of keys.
func checkCommon(login, password string) error {
	text := strings.ToLower(password)
	word, around := core(text)
	login = strings.ToLower(login)
	switch plain := unmasked(text); {
	case commonPasswords()[text] || commonPasswords()[plain]:
		return errs.New(errs.Invalid, "this password is one of those that attackers try first: choose another one")
	case login != "" && (word == login || unmasked(word) == login || text == login+login):
		return errs.New(errs.Invalid, "this password is the login with little around it: choose another one")
	case repeats(text):
		return errs.New(errs.Invalid, "this password repeats a few characters: choose another one")
	case isRows(text):
		return errs.New(errs.Invalid, "this password is a row of keys, letters or digits: choose another one")
	case (len(around) <= maxAround || isRows(around)) && isCommonWord(word):
		return errs.New(errs.Invalid,
			"this password is a common word with little around it, which attackers try first: choose another one")
	}
	return nil
}

// maxAround is how many digits and signs around a common word make no good password of it.
const maxAround = 6

func isCommonWord(word string) bool {
	plain := unmasked(word)
	return commonWords()[word] || commonWords()[plain] || plain == product
}

// core splits a password into the part between its first and last letter, and the rest. Signs used as
// letters (p@ss) are part of the first.
func core(text string) (word, around string) {
	first := strings.IndexFunc(text, unicode.IsLetter)
	if first < 0 {
		return "", text
	}
	last := strings.LastIndexFunc(text, unicode.IsLetter)
	for last++; last < len(text) && text[last]&0xC0 == 0x80; {
		last++
	}
	return text[first:last], text[:first] + text[last:]
}

// unmasking maps digits and signs to the letters that people write them for.
var unmasking = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s",
	"!", "i")

func unmasked(text string) string { return unmasking.Replace(text) }

// maxUnit is the length of what repetitions repeat.
const maxUnit = 4

// repeats reports whether a text is a few characters again and again.
func repeats(text string) bool {
	for unit := 1; unit <= maxUnit && unit*2 <= len(text); unit++ {
		same := true
		for n := unit; n < len(text) && same; n++ {
			same = text[n] == text[n-unit]
		}
		if same {
			return true
		}
	}
	return false
}

// rows are what lies in a row on keyboards and elsewhere.
var rows = []string{"01234567890123456789", "abcdefghijklmnopqrstuvwxyz", "147258369", "1qaz2wsx3edc4rfv",
	"qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./", "!@#$%^&*()_+",
	"qwertzuiopü+", "yxcvbnm,.-", `!"§$%&/()=`, "azertyuiop", "qsdfghjklm", "wxcvbn"}

// minRow is the length from which keys count as a row.
const minRow = 3

// isRows reports whether a text consists only of rows of at least minRow keys, forwards or backwards, and
// of the same key repeated: abcd1234, qwerasdf, 111222333.
func isRows(text string) bool {
	reach := make([]bool, len(text)+1) // the text can be cut here into rows
	reach[0] = true
	for from := range text {
		if !reach[from] {
			continue
		}
		for to := from + minRow; to <= len(text) && isRow(text[from:to]); to++ {
			reach[to] = true
		}
	}
	return len(text) > 0 && reach[len(text)]
}

func isRow(text string) bool {
	back := []byte(text)
	for n := range back {
		back[n] = text[len(text)-1-n]
	}
	for _, row := range rows {
		if strings.Contains(row, text) || strings.Contains(row, string(back)) {
			return true
		}
	}
	return strings.Count(text, text[:1]) == len(text)
}
