# The provider's signing key signs for everything but the channel stable, where
# two of three people must sign.
resource "towline_repository" "main" {
  url = "s3://example-towline/main?region=eu-central-1"

  environments = {
    dev  = {}
    prod = {}
  }

  channels = {
    edge = {}
    stable = {
      keys = [
        "Zm4pQ2mKDfuB0vV9bRoS3XA9J5p3xrRyNROe1rQ8n5M=",
        "3rGJmVd8pTgW1yPq7cTjRZ0dEo3bI5Jb4Yq0p3hXc7A=",
        "qAVBkc0nqf0k3c8pJ0q3eVtq4x9o1l0u3w8hYb2nZ1E=",
      ]
      threshold = 2
    }
  }

  expiry = {
    publishing = "168h"
  }
}

# Agents trust this root without proof; give its fingerprint to whoever installs them by hand.
output "fingerprint" {
  value = towline_repository.main.fingerprint
}
