"""Holds an SBOM against the CycloneDX schema: python validate_sbom.py FILE. Prints how many components it lists."""

import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
bom = json.loads(text)
version = SchemaVersion.from_version(bom["specVersion"])
fault = JsonStrictValidator(version).validate_str(text)
if fault is not None:
    sys.exit(f"not a valid CycloneDX {bom['specVersion']} document: {fault}")
print(len(bom["components"]))
