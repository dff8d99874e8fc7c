package cloudapi

// Kinds are the six kinds of object, in their fixed order. The table is read-only.
var Kinds = []Kind{deployment, service, config, secretClaim, scheduledJob, networkRule}

var labels = Attribute{Name: "labels", Description: "Labels by which people and selectors find the object.", Shape: StringMap}

var environment = Attribute{Name: "env", Description: "Environment variables.", Shape: StringMap}

var deployment = Kind{
	Name:        "deployment",
	Description: "A number of equal replicas of one or more containers.",
	Attributes: []Attribute{
		labels,
		{Name: "annotations", Description: "Notes that tools leave; the cloud keeps those it finds while the configuration has none.", Shape: StringMap, Presence: Adopted},
		{Name: "replicas", Description: "Number of replicas.", Shape: Int, Presence: Defaulted, Default: int64(1), Max: 1000},
		{Name: "architecture", Description: "Processor architecture, `amd64` or `arm64`.", Presence: Defaulted, Default: "amd64", Replaces: true, OneOf: []string{"amd64", "arm64"}},
		{Name: "paused", Description: "Whether roll-outs wait.", Shape: Bool, Presence: Defaulted, Default: false},
		{Name: "node_pool", Description: "Pool of nodes; chosen by the cloud unless set.", Presence: Adopted},
		{Name: "min_ready_seconds", Description: "Seconds a replica must be ready before it counts; chosen by the cloud unless set.", Shape: Int, Presence: Adopted, Max: 3600},
		{Name: "strategy", Description: "How replicas are replaced; chosen by the cloud unless set.", Shape: NestedOne, Presence: Adopted, Fields: []Attribute{
			{Name: "type", Description: "`rolling` or `recreate`.", Presence: Adopted, OneOf: []string{"rolling", "recreate"}},
			{Name: "max_surge", Description: "Replicas above the number during a roll-out.", Shape: Int, Presence: Adopted, Max: 100},
			{Name: "max_unavailable", Description: "Replicas that may be missing during a roll-out.", Shape: Int, Presence: Adopted, Max: 100},
		}},
		{Name: "container", Description: "A container of each replica.", Shape: NestedList, Presence: Required, Block: true, Max: 20, Fields: []Attribute{
			{Name: "name", Description: "Name of the container.", Presence: Required, Check: checkName},
			{Name: "image", Description: "Image reference.", Presence: Required, Check: checkImage},
			{Name: "command", Description: "Command and arguments.", Shape: StringList},
			{Name: "cpu", Description: "Processor cores.", Shape: Float, Presence: Defaulted, Default: 0.25, Max: 256},
			{Name: "memory_mib", Description: "Memory in MiB.", Shape: Int, Presence: Defaulted, Default: int64(128), Min: 4, Max: 1 << 22},
			environment,
			{Name: "port", Description: "A port that the container serves.", Shape: NestedList, Block: true, Max: 50, Fields: []Attribute{
				{Name: "name", Description: "Name of the port.", Presence: Required, Check: checkName},
				{Name: "number", Description: "Port number.", Shape: Int, Presence: Required, Min: 1, Max: 65535},
				{Name: "protocol", Description: "`tcp` or `udp`.", Presence: Defaulted, Default: "tcp", OneOf: []string{"tcp", "udp"}},
			}},
		}},
		{Name: "available_replicas", Description: "Number of replicas that serve.", Shape: Int, Presence: Computed},
		{Name: "address", Description: "Address inside the cloud.", Presence: Computed, Stable: true},
	},
}

var service = Kind{
	Name:        "service",
	Description: "A stable address in front of deployments.",
	Attributes: []Attribute{
		labels,
		{Name: "selector", Description: "Labels of the deployments that serve.", Shape: StringMap, Presence: Required},
		{Name: "type", Description: "`internal`, `public` or `headless`.", Presence: Defaulted, Default: "internal", OneOf: []string{"internal", "public", "headless"}},
		{Name: "ports", Description: "Ports of the service.", Shape: NestedList, Presence: Required, Max: 50, Fields: []Attribute{
			{Name: "name", Description: "Name of the port.", Presence: Required, Check: checkName},
			{Name: "port", Description: "Port number.", Shape: Int, Presence: Required, Min: 1, Max: 65535},
			{Name: "target_port", Description: "Port of the container; the service's port unless set.", Shape: Int, Presence: Adopted, Min: 1, Max: 65535},
			{Name: "protocol", Description: "`tcp` or `udp`.", Presence: Defaulted, Default: "tcp", OneOf: []string{"tcp", "udp"}},
		}},
		{Name: "allowed_cidrs", Description: "Networks that may connect.", Shape: StringSet, Check: checkCIDR},
		{Name: "session_affinity", Description: "Whether a client stays with one replica.", Shape: Bool, Presence: Defaulted, Default: false},
		{Name: "idle_timeout_seconds", Description: "Seconds until an idle connection ends; chosen by the cloud unless set.", Shape: Int, Presence: Adopted, Min: 1, Max: 86400},
		{Name: "cluster_address", Description: "Virtual address.", Presence: Computed, Stable: true},
		{Name: "endpoint", Description: "Address and first port for clients.", Presence: Computed},
		{Name: "ingress_addresses", Description: "Public addresses, empty unless the type is `public`.", Shape: StringList, Presence: Computed},
	},
}

var config = Kind{
	Name:        "config",
	Description: "Named text for containers to read.",
	Attributes: []Attribute{
		labels,
		{Name: "data", Description: "Text by name.", Shape: StringMap, Presence: Required},
		{Name: "format", Description: "`env`, `json` or `files`.", Presence: Defaulted, Default: "env", Replaces: true, OneOf: []string{"env", "json", "files"}},
		{Name: "immutable", Description: "Whether a change needs a new object's name.", Shape: Bool, Presence: Defaulted, Default: false},
		{Name: "checksum", Description: "SHA-256 of the data.", Presence: Computed},
		{Name: "size_bytes", Description: "Length of all names and texts.", Shape: Int, Presence: Computed},
	},
}

var secretClaim = Kind{
	Name:        "secret_claim",
	Description: "A secret that the cloud makes and keeps.",
	Attributes: []Attribute{
		labels,
		{Name: "length", Description: "Length of the token.", Shape: Int, Presence: Defaulted, Default: int64(32), Replaces: true, Min: 16, Max: 64},
		{Name: "keepers", Description: "Texts whose change makes a new secret.", Shape: StringMap, Replaces: true},
		{Name: "usage", Description: "What the secret is for.", Shape: StringSet},
		{Name: "ttl_hours", Description: "Hours until it expires; chosen by the cloud unless set.", Shape: Int, Presence: Adopted, Min: 1, Max: 87600},
		{Name: "path", Description: "Where workloads find the secret.", Presence: Computed, Stable: true},
		{Name: "token", Description: "The secret.", Presence: Computed, Stable: true, Sensitive: true},
		{Name: "expires_at", Description: "When it expires, RFC 3339.", Presence: Computed},
	},
}

var scheduledJob = Kind{
	Name:        "scheduled_job",
	Description: "A container that runs at set times.",
	Attributes: []Attribute{
		labels,
		{Name: "schedule", Description: "Five fields as in cron.", Presence: Required, Check: checkSchedule},
		{Name: "image", Description: "Image reference.", Presence: Required, Check: checkImage},
		{Name: "command", Description: "Command and arguments.", Shape: StringList},
		environment,
		{Name: "suspend", Description: "Whether no run starts.", Shape: Bool, Presence: Defaulted, Default: false},
		{Name: "concurrency", Description: "`allow`, `forbid` or `replace`.", Presence: Defaulted, Default: "allow", OneOf: []string{"allow", "forbid", "replace"}},
		{Name: "retries", Description: "Attempts after the first.", Shape: Int, Presence: Defaulted, Default: int64(0), Max: 20},
		{Name: "timezone", Description: "Time zone; chosen by the cloud unless set.", Presence: Adopted},
		{Name: "history", Description: "How many finished runs are kept.", Shape: NestedOne, Block: true, Fields: []Attribute{
			{Name: "successful", Description: "Successful runs.", Shape: Int, Presence: Required, Max: 1000},
			{Name: "failed", Description: "Failed runs.", Shape: Int, Presence: Required, Max: 1000},
		}},
		{Name: "queue", Description: "Queue that the runs wait in.", Presence: Computed, Stable: true},
		{Name: "enabled", Description: "Whether runs start.", Shape: Bool, Presence: Computed},
	},
}

var networkRule = Kind{
	Name:        "network_rule",
	Description: "What may talk to what.",
	Attributes: []Attribute{
		labels,
		{Name: "direction", Description: "`ingress` or `egress`.", Presence: Required, Replaces: true, OneOf: []string{"ingress", "egress"}},
		{Name: "action", Description: "`allow` or `deny`.", Presence: Defaulted, Default: "allow", OneOf: []string{"allow", "deny"}},
		{Name: "priority", Description: "Lower numbers win.", Shape: Int, Presence: Required, Min: 1, Max: 65535},
		{Name: "ports", Description: "Port numbers; all if absent.", Shape: IntSet, Min: 1, Max: 65535},
		{Name: "peer", Description: "The other side.", Shape: NestedSet, Block: true, Max: 100, Fields: []Attribute{
			{Name: "cidr", Description: "Network.", Check: checkCIDR},
			{Name: "service", Description: "Service of the same environment.", Check: checkName},
			{Name: "except", Description: "Networks inside `cidr` that do not count.", Shape: StringList, Check: checkCIDR},
		}},
		{Name: "logging", Description: "Whether hits are logged; chosen by the cloud unless set.", Shape: Bool, Presence: Adopted},
		{Name: "rule_number", Description: "Number in the cloud's table.", Shape: Int, Presence: Computed, Stable: true},
	},
}
