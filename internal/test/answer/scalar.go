package answer

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

var (
	objectID = regexp.MustCompile(`^[0-9a-f]{40}$`)
	digits   = regexp.MustCompile(`^-?[0-9]+$`)
)

// isScalar reports a value of a scalar type, in the form in which GitHub writes it. Of types that it does not
// know, a text is one.
func isScalar(name string, v any) bool {
	number, isNumber := v.(json.Number)
	text, isText := v.(string)
	switch name {
	case "Int":
		_, err := strconv.ParseInt(string(number), 10, 32)
		return isNumber && err == nil
	case "Float":
		_, err := number.Float64()
		return isNumber && err == nil
	case "Boolean":
		_, ok := v.(bool)
		return ok
	case "ID":
		return isText && text != ""
	case "BigInt":
		return isText && digits.MatchString(text)
	case "DateTime", "PreciseDateTime", "GitTimestamp":
		_, err := time.Parse(time.RFC3339, text)
		return isText && err == nil
	case "Date":
		_, err := time.Parse(time.DateOnly, text)
		return isText && err == nil
	case "URI":
		_, err := url.Parse(text)
		return isText && err == nil
	case "GitObjectID":
		return isText && objectID.MatchString(text)
	case "Base64String":
		_, err := base64.StdEncoding.DecodeString(text)
		return isText && err == nil
	}
	return isText
}
