import type { Abstract, Type } from '@nestjs/common';

/** A port that the host fills: an instance, a class that takes part in injection, or a provider of the application. */
export type PortOption<T> = T | Type<T> | { readonly useExisting: Type<T> | Abstract<T> | string | symbol };
