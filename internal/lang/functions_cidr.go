package lang

import (
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"

	"github.com/apparentlymart/go-cidr/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/gocty"
)

// parsePrefix reads a network prefix. Unlike the standard library it takes
// leading zeros in decimal parts, as Terraform always did.
func parsePrefix(text string) (*net.IPNet, error) {
	address, length, ok := strings.Cut(text, "/")
	if ok && !strings.Contains(address, ":") {
		parts := strings.Split(address, ".")
		for i, part := range parts {
			if trimmed := strings.TrimLeft(part, "0"); trimmed != "" || part == "" {
				parts[i] = trimmed
			} else {
				parts[i] = "0"
			}
		}
		address = strings.Join(parts, ".")
	}
	_, network, err := net.ParseCIDR(address + "/" + length)
	if err != nil || !ok {
		return nil, fmt.Errorf("%q is no network prefix such as 10.0.0.0/8 or fd00::/64", text)
	}
	return network, nil
}

var cidrHostFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "prefix", Type: cty.String}, {Name: "hostnum", Type: cty.Number}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var number *big.Int
		if err := gocty.FromCtyValue(args[1], &number); err != nil {
			return cty.UnknownVal(cty.String), err
		}
		network, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(cty.String), err
		}
		ip, err := cidr.HostBig(network, number)
		if err != nil {
			return cty.UnknownVal(cty.String), err
		}
		return cty.StringVal(ip.String()), nil
	},
})

var cidrNetmaskFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "prefix", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		network, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(cty.String), err
		}
		if network.IP.To4() == nil {
			return cty.UnknownVal(cty.String), errors.New("only IPv4 networks have a mask in dotted form")
		}
		return cty.StringVal(net.IP(network.Mask).String()), nil
	},
})

var cidrSubnetFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "prefix", Type: cty.String}, {Name: "newbits", Type: cty.Number}, {Name: "netnum", Type: cty.Number}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var bits int
		if err := gocty.FromCtyValue(args[1], &bits); err != nil {
			return cty.UnknownVal(cty.String), err
		}
		var number *big.Int
		if err := gocty.FromCtyValue(args[2], &number); err != nil {
			return cty.UnknownVal(cty.String), err
		}
		network, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(cty.String), err
		}
		subnet, err := cidr.SubnetBig(network, bits, number)
		if err != nil {
			return cty.UnknownVal(cty.String), err
		}
		return cty.StringVal(subnet.String()), nil
	},
})

var cidrSubnetsFunc = function.New(&function.Spec{
	Params:   []function.Parameter{{Name: "prefix", Type: cty.String}},
	VarParam: &function.Parameter{Name: "newbits", Type: cty.Number},
	Type:     function.StaticReturnType(cty.List(cty.String)),
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		network, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(retType), function.NewArgError(0, err)
		}
		return consecutiveSubnets(network, args[1:])
	},
})

// maxNewBits bounds the extension of a prefix, as in Terraform: more does not
// fit its arithmetic.
const maxNewBits = 32

// consecutiveSubnets takes subnets of the given extra lengths one after another.
func consecutiveSubnets(network *net.IPNet, newBits []cty.Value) (cty.Value, error) {
	unknown := cty.UnknownVal(cty.List(cty.String))
	start, _ := network.Mask.Size()
	_, size := network.Mask.Size()
	var out []cty.Value
	var current *net.IPNet
	for i, arg := range newBits {
		var bits int
		if err := gocty.FromCtyValue(arg, &bits); err != nil {
			return unknown, function.NewArgError(i+1, err)
		}
		switch {
		case bits < 1:
			return unknown, function.NewArgErrorf(i+1, "a prefix must be extended by at least one bit")
		case bits > maxNewBits:
			return unknown, function.NewArgErrorf(i+1, "a prefix may not be extended by more than %d bits", maxNewBits)
		case start+bits > size:
			return unknown, function.NewArgErrorf(i+1, "%d bits are left for subnets of %s, too few for %d", size-start, network, bits)
		}
		next, over := nextSubnet(network, current, start+bits)
		if over || !network.Contains(next.IP) {
			return unknown, function.NewArgErrorf(i+1, "there is no room left in %s for a subnet with a prefix of %d bits", network, start+bits)
		}
		current = next
		out = append(out, cty.StringVal(current.String()))
	}
	if len(out) == 0 {
		return cty.ListValEmpty(cty.String), nil
	}
	return cty.ListVal(out), nil
}

// nextSubnet returns the subnet after current, or the first one.
func nextSubnet(network, current *net.IPNet, length int) (*net.IPNet, bool) {
	if current == nil {
		_, size := network.Mask.Size()
		return &net.IPNet{IP: network.IP, Mask: net.CIDRMask(length, size)}, false
	}
	return cidr.NextSubnet(current, length)
}
