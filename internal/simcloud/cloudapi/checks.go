package cloudapi

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// A check returns what the text must be, or "" if it is.

func checkName(text string) string {
	if nameRE.MatchString(text) {
		return ""
	}
	return NameRule
}

var imageRE = regexp.MustCompile(`^[a-z0-9][a-z0-9._/:-]*(@sha256:[0-9a-f]{64})?$`)

func checkImage(text string) string {
	if len(text) <= 512 && imageRE.MatchString(text) {
		return ""
	}
	return "must be an image reference such as registry.example/app:1.2"
}

func checkCIDR(text string) string {
	if prefix, err := netip.ParsePrefix(text); err == nil && prefix == prefix.Masked() {
		return ""
	}
	return "must be a network such as 10.0.0.0/8"
}

var cronRanges = [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}

func checkSchedule(text string) string {
	const rule = "must be five fields as in cron, such as 0 3 * * 1"
	fields := strings.Fields(text)
	if len(fields) != len(cronRanges) {
		return rule
	}
	for i, field := range fields {
		for part := range strings.SplitSeq(field, ",") {
			if !validCronPart(part, cronRanges[i]) {
				return rule
			}
		}
	}
	return ""
}

func validCronPart(part string, within [2]int) bool {
	span, step, hasStep := strings.Cut(part, "/")
	if n, err := strconv.Atoi(step); hasStep && (err != nil || n < 1) {
		return false
	}
	if span == "*" {
		return true
	}
	from, to, isRange := strings.Cut(span, "-")
	if !isRange {
		to = from
	}
	low, lowErr := strconv.Atoi(from)
	high, highErr := strconv.Atoi(to)
	return lowErr == nil && highErr == nil && within[0] <= low && low <= high && high <= within[1]
}
