package token

import (
	"encoding/base64"
	"strings"
)

// maxToken is the greatest length of a token that is looked up, in bytes; and
// maxBasic that of the encoded Basic credentials that may hold one.
const (
	maxToken = 255
	maxBasic = 1024
)

// parseCredentials finds the token in the values of the Authorization headers
// (decision 10): Bearer TOKEN, token TOKEN, or Basic with the token as password,
// or as user name with an empty password or x-oauth-basic. bearerOnly leaves
// Bearer alone. ok is false for invalid headers, such as two headers.
func parseCredentials(values []string, bearerOnly bool) (token string, ok bool) {
	if len(values) != 1 {
		return "", false
	}
	scheme, rest, found := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !found {
		return "", false
	}
	rest = strings.TrimLeft(rest, " ")
	switch {
	case strings.EqualFold(scheme, "bearer"):
		token = rest
	case bearerOnly:
		return "", false
	case strings.EqualFold(scheme, "token"):
		token = rest
	case strings.EqualFold(scheme, "basic"):
		token = basicToken(rest)
	}
	return token, WellFormed(token)
}

// basicToken finds the token in Basic credentials; empty when there is none. A
// user name with it is not compared: the token names its account.
func basicToken(encoded string) string {
	if len(encoded) > maxBasic {
		return ""
	}
	plain, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	user, password, found := strings.Cut(string(plain), ":")
	switch {
	case !found:
		return ""
	case password == "", password == "x-oauth-basic":
		return user
	default:
		return password
	}
}

// WellFormed reports whether the text could be a token: the rest costs a lookup.
func WellFormed(token string) bool {
	known := strings.HasPrefix(token, Prefix) || strings.HasPrefix(token, installationPrefix) ||
		strings.HasPrefix(token, oauthPrefix) || strings.HasPrefix(token, userPrefix)
	if !known || len(token) <= len(Prefix) || len(token) > maxToken {
		return false
	}
	for i := range len(token) {
		switch c := token[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
		default:
			return false
		}
	}
	return true
}
