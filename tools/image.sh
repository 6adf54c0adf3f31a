#!/bin/sh
# Builds the image, and writes it to a tar file if one is named:
#
#   tools/image.sh IMAGE PLATFORM VERSION COMMIT [FILE]
#
# It takes podman, buildah or docker, whichever is there, and otherwise installs buildah, which
# needs Debian and root. IMAGE_FLAGS, if set, are further flags for the build.
# SOURCE_DATE_EPOCH is the time of the image and its files, in seconds; docker does not take it.
set -eu
image=$1 platform=$2 version=$3 commit=$4 file=${5:-}
cd "$(dirname "$0")/.."

if command -v podman >/dev/null; then
  tool=podman
elif command -v buildah >/dev/null; then
  tool=buildah
elif docker info >/dev/null 2>&1; then
  tool=docker
elif command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "installing buildah, which builds images"
  apt-get update -qq && apt-get install -y -qq buildah
  tool=buildah
else
  echo "building an image needs podman, buildah or docker: install one of them and run this again" >&2
  exit 1
fi

# What docker does by itself, and Debian 12's buildah does not: fill in the platforms of the stages.
flags=
[ $tool = docker ] || flags="--timestamp ${SOURCE_DATE_EPOCH:-0}
  --build-arg BUILDPLATFORM=linux/$(go env GOHOSTARCH) --build-arg TARGETPLATFORM=$platform"
# shellcheck disable=SC2086 # these are lists of flags
$tool build $flags ${IMAGE_FLAGS:-} --platform "$platform" --tag "$image" \
  --build-arg "VERSION=$version" --build-arg "COMMIT=$commit" .

[ -n "$file" ] || exit 0
rm -f "$file" # podman adds to a file that is there
case $tool in
  buildah) buildah push --quiet "$image" "docker-archive:$file:$image" ;;
  *) $tool save --output "$file" "$image" ;;
esac
